/** Packs folders of files into an image archive (OCI layout) that containerd imports: no Docker, no registry. */
import { createHash } from 'node:crypto';
import { createTar, type TarEntry } from './tar.ts';

export interface ImageSpec {
  /** Full name, e.g. `localhost/stowage/load:1`. */
  readonly name: string;
  /** Each an uncompressed layer, lowest first. */
  readonly layers: readonly (readonly TarEntry[])[];
  readonly entrypoint: readonly string[];
  readonly env?: readonly string[];
  readonly workingDirectory?: string;
  /** `uid:gid`. Default root. */
  readonly user?: string;
}

export interface PackedImage {
  readonly name: string;
  /** Digest of the manifest: equal for equal content. */
  readonly digest: string;
  readonly archive: Buffer;
}

const MEDIA = 'application/vnd.oci.image';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export function packImage(spec: ImageSpec): PackedImage {
  const blobs: TarEntry[] = [];
  const store = (mediaType: string, content: Buffer): Descriptor => {
    const hash = createHash('sha256').update(content).digest('hex');
    blobs.push({ path: `blobs/sha256/${hash}`, content, mode: 0o644 });
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

  const layers = spec.layers.map((entries) => store(`${MEDIA}.layer.v1.tar`, createTar(entries)));
  const config = store(
    `${MEDIA}.config.v1+json`,
    json({
      created: '1970-01-01T00:00:00Z',
      architecture: 'amd64',
      os: 'linux',
      config: {
        Env: ['PATH=/bin', ...(spec.env ?? [])],
        Entrypoint: spec.entrypoint,
        WorkingDir: spec.workingDirectory ?? '/',
        ...(spec.user === undefined ? {} : { User: spec.user }),
      },
      // Uncompressed layers: their digest is also the one of their content.
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
      history: layers.map(() => ({ created_by: 'stowage' })),
    }),
  );
  const manifest = store(
    `${MEDIA}.manifest.v1+json`,
    json({ schemaVersion: 2, mediaType: `${MEDIA}.manifest.v1+json`, config, layers }),
  );
  const index = {
    schemaVersion: 2,
    mediaType: `${MEDIA}.index.v1+json`,
    manifests: [
      {
        ...manifest,
        platform: { architecture: 'amd64', os: 'linux' },
        annotations: {
          // What containerd names the image after an import.
          'io.containerd.image.name': spec.name,
          'org.opencontainers.image.ref.name': spec.name.slice(spec.name.lastIndexOf(':') + 1),
        },
      },
    ],
  };
  const archive = createTar([
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }), mode: 0o644 },
    { path: 'index.json', content: json(index), mode: 0o644 },
    ...blobs,
  ]);
  return { name: spec.name, digest: manifest.digest, archive };
}
