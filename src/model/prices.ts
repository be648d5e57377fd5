/** What an hour of a machine costs by the prices file; unknown where the file does not say, never a guess. */
import type { LocalPrices, PriceTable } from '../api/prices.ts';
import { ownMember } from '../lib/own-member.ts';
import type { DollarsPerHour } from '../lib/units.ts';
import type { NodeRecord, Side } from './records.ts';
import { INSTANCE_TYPE_LABEL, ZONE_LABEL } from './spot-pool.ts';

export const REGION_LABEL = 'topology.kubernetes.io/region';

/** A machine as prices see it; undefined where its node has no such label. */
export interface PricedPlace {
  readonly instanceType: string | undefined;
  readonly region: string | undefined;
  readonly zone: string | undefined;
}

/** By the well-known labels. */
export function placeOf({ labels }: Pick<NodeRecord, 'labels'>): PricedPlace {
  return { instanceType: labels[INSTANCE_TYPE_LABEL], region: labels[REGION_LABEL], zone: labels[ZONE_LABEL] };
}

/**
 * The price of one hour on one side. The zone's price wins over the region's, and that over the type's own; a discount
 * is taken off the on-demand price of the same place. The type's own prices hold for the file's `region` only, where it
 * names one; a node without a region label is taken to be there.
 * @returns undefined where the file says nothing.
 */
export function hourlyPrice(prices: PriceTable, place: PricedPlace, side: Side): DollarsPerHour | undefined {
  const levels = levelsOf(prices, place);
  const onDemand = levels.find((level) => level.onDemand !== undefined)?.onDemand;
  if (side === 'on-demand') return onDemand;
  const level = levels.find(({ spot, spotDiscount }) => spot !== undefined || spotDiscount !== undefined);
  if (level?.spot !== undefined) return level.spot;
  if (level?.spotDiscount === undefined || onDemand === undefined) return undefined;
  return (onDemand * (100 - level.spotDiscount)) / 100;
}

/** Narrowest first. */
function levelsOf(prices: PriceTable, { instanceType = '', region, zone }: PricedPlace): readonly LocalPrices[] {
  const entry = ownMember(prices.instanceTypes, instanceType);
  if (entry === undefined) return [];
  const isThere = prices.region === undefined || region === undefined || region === prices.region;
  const levels = [ownMember(entry.zones, zone), ownMember(entry.regions, region), isThere ? entry : undefined];
  return levels.filter((level) => level !== undefined);
}

/** Why a node has no price on a side, for people: names what to add to the file. */
export function describeMissingPrice({ instanceType, region, zone }: PricedPlace, side: Side): string {
  if (instanceType === undefined) return `a node without the label ${INSTANCE_TYPE_LABEL}`;
  const where = zone ?? region;
  return `${instanceType} on ${side}${where === undefined ? '' : ` in ${where}`}`;
}
