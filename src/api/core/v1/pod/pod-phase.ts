import type { Pod } from './pod.ts';

/** The pod has terminated, successfully or not, and will not run again. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

export function isPodTerminal({ status }: Pick<Pod, 'status'>): boolean {
  return isTerminalPhase(status?.phase);
}
