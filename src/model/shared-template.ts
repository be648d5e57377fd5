/** A template in half of its memory: pods that were resized differ from their like in what they request alone. */
import type { PodTemplate } from './records.ts';

/** All of a template but the requests. */
export type TemplateKind = Omit<PodTemplate, 'requests'>;

/**
 * A class for its prototype: a spread copies nothing of the kind, {@link withRequests} does what one would. Two are equal
 * where kind and requests are.
 */
export class SharedTemplate implements PodTemplate {
  readonly kind: TemplateKind;
  readonly requests: PodTemplate['requests'];

  constructor(kind: TemplateKind, requests: PodTemplate['requests']) {
    this.kind = kind;
    this.requests = requests;
  }

  get labels(): PodTemplate['labels'] {
    return this.kind.labels;
  }
  get nodeSelector(): PodTemplate['nodeSelector'] {
    return this.kind.nodeSelector;
  }
  get requiredNodeTerms(): PodTemplate['requiredNodeTerms'] {
    return this.kind.requiredNodeTerms;
  }
  get tolerations(): PodTemplate['tolerations'] {
    return this.kind.tolerations;
  }
  get extraRequests(): PodTemplate['extraRequests'] {
    return this.kind.extraRequests;
  }
  get claimsDevices(): PodTemplate['claimsDevices'] {
    return this.kind.claimsDevices;
  }
  get hasPodPlacementRules(): boolean {
    return this.kind.hasPodPlacementRules;
  }
  get podAffinity(): PodTemplate['podAffinity'] {
    return this.kind.podAffinity;
  }
  get spread(): PodTemplate['spread'] {
    return this.kind.spread;
  }
  get terminationGraceSeconds(): number {
    return this.kind.terminationGraceSeconds;
  }
  get preferences(): PodTemplate['preferences'] {
    return this.kind.preferences;
  }
}

/** The template, requesting this. */
export function withRequests(template: PodTemplate, requests: PodTemplate['requests']): PodTemplate {
  return new SharedTemplate(kindOf(template), requests);
}

/** The template with some of its parts replaced. */
export function withParts(template: PodTemplate, { requests, ...parts }: Partial<PodTemplate>): PodTemplate {
  return new SharedTemplate({ ...kindOf(template), ...parts }, requests ?? template.requests);
}

function kindOf(template: PodTemplate): TemplateKind {
  return template instanceof SharedTemplate ? template.kind : template;
}
