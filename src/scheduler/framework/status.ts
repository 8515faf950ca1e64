export type Code = 'Error' | 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Wait' | 'Skip' | 'Pending';

/** A plugin's result other than success. Success is `undefined`, so that the common case allocates nothing. */
export interface Status {
  readonly code: Code;
  readonly reasons: readonly string[];
  /** The plugin: its queueing hints decide later whether a change may help. */
  readonly plugin: string;
  readonly error?: unknown;
}

export function unschedulable(plugin: string, ...reasons: readonly string[]): Status {
  return { code: 'Unschedulable', reasons, plugin };
}

/** As `unschedulable`, and preemption would not help. */
export function unresolvable(plugin: string, ...reasons: readonly string[]): Status {
  return { code: 'UnschedulableAndUnresolvable', reasons, plugin };
}

export function failed(plugin: string, error: unknown): Status {
  return { code: 'Error', reasons: [error instanceof Error ? error.message : String(error)], plugin, error };
}

/** Skip: the plugin does not apply to this pod and is not called again in this cycle. */
export const SKIP: Status = { code: 'Skip', reasons: [], plugin: '' };

export function isRejected(status: Status): boolean {
  return status.code === 'Unschedulable' || status.code === 'UnschedulableAndUnresolvable' || status.code === 'Pending';
}

export function messageOf(status: Status): string {
  return status.reasons.join(', ');
}
