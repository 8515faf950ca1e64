import { humanDuration, parseTime } from '#machinery';
import type { TableColumn } from './behaviour.ts';
import type { ObjectMeta } from './meta/v1/object-meta.ts';

/** Shared table formatting. The texts are upstream's: people and scripts read them. */
export const NAME_COLUMN: TableColumn = { name: 'Name', type: 'string', format: 'name', description: 'The name of the object.' };
export const AGE_COLUMN: TableColumn = { name: 'Age', type: 'string', description: 'The time since the object was created.' };

export function column(name: string, description: string, options: Partial<TableColumn> = {}): TableColumn {
  return { name, type: 'string', description, ...options };
}

/** A column that shows with `-o wide` only. */
export function wideColumn(name: string, description: string): TableColumn {
  return { name, type: 'string', description, priority: 1 };
}

export function ageCell({ creationTimestamp }: ObjectMeta, now: number): string {
  return sinceCell(creationTimestamp, now);
}

/** A human-readable age. */
export function sinceCell(time: string | undefined | null, now: number): string {
  return time ? humanDuration(now - parseTime(time)) : '<unknown>';
}

const LISTED = 3;

/** The first few items of a list and the number of others; '' for an empty list. */
export function listCell(items: readonly string[]): string {
  const listed = items.slice(0, LISTED).join(',');
  return items.length > LISTED ? `${listed} + ${items.length - LISTED} more...` : listed;
}
