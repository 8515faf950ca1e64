const COALESCED_FROM_OBJECTS = 100;
const DELAY_MS_PER_OBJECT = 0.1;
const MAX_DELAY_MS = 500;

/**
 * How long to wait with a sync that is linear in this many objects: events of large owners are debounced, so that the work per event does not
 * grow with the owner.
 */
export function coalescingDelayMs(objects: number): number {
  return objects < COALESCED_FROM_OBJECTS ? 0 : Math.min(objects * DELAY_MS_PER_OBJECT, MAX_DELAY_MS);
}
