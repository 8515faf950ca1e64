import type { FieldReport } from '../../../field-report.ts';

/** Replica counts of a controller's status. */
export interface ReplicaCounts {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
] as const;
const PARTS = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;

/** The status of ReplicationControllers and ReplicaSets: counts must not be negative, nor exceed the count that includes them. */
export function validateReplicaCounts(status: ReplicaCounts, at: FieldReport): void {
  for (const count of COUNTS) {
    const value = status[count];
    if (value !== undefined && value < 0) at.child(count).nonNegative(value);
  }
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const part of PARTS) {
    const value = status[part] ?? 0;
    if (value > replicas) at.child(part).invalid(value, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than readyReplicas');
}
