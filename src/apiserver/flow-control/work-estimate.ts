import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ApiRequest } from '../request/api-request.ts';

/** The estimated cost of a request. */
export interface WorkEstimate {
  /** While it executes. */
  readonly initialSeats: number;
  /** Afterwards, for `additionalLatencyMs`, while its event is delivered to watchers. */
  readonly finalSeats: number;
  readonly additionalLatencyMs: number;
}

export interface EstimateContext {
  readonly table: ResourceTable;
  /** The number of network watchers of the resource. */
  readonly watchers: (group: string, resource: string) => number;
  /** The maximum seats of one request of the level. */
  readonly maxSeats: number;
}

export const ONE_SEAT: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 };
const MAX_SEATS = 10;
const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
const EVENT_MS = 5;

/** Upstream's numbers. Lists are served from the cache, so that the whole limit counts. */
export function estimateWork(request: ApiRequest, context: EstimateContext): WorkEstimate {
  switch (request.info.verb) {
    case 'list':
      return estimateList(request, context);
    case 'watch':
      return sendsState(request) ? estimateList(request, context) : ONE_SEAT;
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return request.isLocal ? ONE_SEAT : estimateWrite(request, context);
    default:
      return ONE_SEAT;
  }
}

function sendsState({ query }: ApiRequest): boolean {
  const version = query.get('resourceVersion') ?? '';
  return version === '' || version === '0' || query.get('sendInitialEvents') === 'true';
}

function estimateList({ info, query }: ApiRequest, { table, maxSeats }: EstimateContext): WorkEstimate {
  const { cache } = table.find(info.group, info.version, info.resource)?.storage ?? {};
  // Aggregated resources cost next to nothing; unread ones cannot be estimated.
  if (cache === undefined || info.name !== '' || cache.size <= OBJECTS_PER_SEAT) return ONE_SEAT;
  const limit = Number(query.get('limit') ?? 0);
  const objects = limit > 0 ? Math.min(limit, cache.size) : cache.size;
  const initialSeats = Math.max(1, Math.min(Math.ceil(objects / OBJECTS_PER_SEAT), MAX_SEATS, maxSeats));
  return initialSeats === 1 ? ONE_SEAT : { ...ONE_SEAT, initialSeats };
}

function estimateWrite({ info }: ApiRequest, { watchers, maxSeats }: EstimateContext): WorkEstimate {
  const isSilent = info.resource === 'serviceaccounts' && info.subresource === 'token';
  const count = isSilent ? 0 : watchers(info.group, info.resource);
  if (count < WATCHES_PER_SEAT) return ONE_SEAT;
  const wide = Math.ceil(count / WATCHES_PER_SEAT);
  const finalSeats = Math.min(wide, MAX_SEATS, maxSeats);
  return { initialSeats: 1, finalSeats, additionalLatencyMs: (wide * EVENT_MS) / finalSeats };
}
