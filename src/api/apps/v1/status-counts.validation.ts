import type { FieldReport } from '../../field-report.ts';

interface Collisions {
  readonly collisionCount?: number;
}

/** The collision count must not decrease: it is part of generated names. */
export function validateCollisionCount({ collisionCount }: Collisions, at: FieldReport, old: Collisions = {}): void {
  if (old.collisionCount === undefined) return;
  if (collisionCount === undefined || collisionCount < old.collisionCount) {
    at.child('collisionCount').invalid(collisionCount ?? 0, 'cannot be decremented');
  }
}
