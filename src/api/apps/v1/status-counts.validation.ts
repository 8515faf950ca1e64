import type { FieldReport } from '../../field-report.ts';

interface Collisions {
  readonly collisionCount?: number;
}

/** Collisions of names are only ever counted up: the count is part of the names. */
export function validateCollisionCount({ collisionCount }: Collisions, at: FieldReport, old: Collisions = {}): void {
  if (old.collisionCount === undefined) return;
  if (collisionCount === undefined || collisionCount < old.collisionCount) {
    at.child('collisionCount').invalid(collisionCount ?? 0, 'cannot be decremented');
  }
}
