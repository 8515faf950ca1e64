import { mapField, mapItems, withField } from '../../../defaulting.ts';
import { fillResources, type ResourceList, roundResources } from '../resource-list/resource-list.ts';
import type { LimitRange, LimitRangeItem, LimitRangeSpec } from './limit-range.ts';

export function defaultLimitRange(limitRange: LimitRange): LimitRange {
  return mapField(limitRange, 'spec', (spec: LimitRangeSpec) => mapField(spec, 'limits', (limits) => mapItems(limits, defaultItem)));
}

/** Default limits are derived from the maximum, default requests from the limits. */
function defaultItem(item: LimitRangeItem): LimitRangeItem {
  const rounded = roundItem(item);
  if (rounded.type !== 'Container') return rounded;
  const limits = fill(rounded.default, rounded.max);
  const requests = fill(fill(rounded.defaultRequest, limits), rounded.min);
  const withLimits = limits ? withField(rounded, 'default', limits) : rounded;
  return requests ? withField(withLimits, 'defaultRequest', requests) : withLimits;
}

function fill(list: ResourceList | undefined, added: ResourceList | undefined): ResourceList | undefined {
  return fillResources(list, added ?? {});
}

function roundItem(item: LimitRangeItem): LimitRangeItem {
  const fields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
  return fields.reduce((rounded: LimitRangeItem, name) => mapField(rounded, name, roundResources), item);
}
