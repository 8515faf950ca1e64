import type { TableDefinition } from '../../../behaviour.ts';
import { column, sinceCell, wideColumn } from '../../../table-cells.ts';
import type { Event } from './event.ts';

export const eventTable: TableDefinition<Event> = {
  columns: [
    column('Last Seen', 'When this last happened.'),
    column('Type', 'Normal or Warning.'),
    column('Reason', 'Why it happened, in a word.'),
    column('Object', 'What it happened to.'),
    wideColumn('Subobject', 'The part of the object that is concerned.'),
    wideColumn('Source', 'The component that reported it.'),
    column('Message', 'What happened.'),
    wideColumn('First Seen', 'When this first happened.'),
    wideColumn('Count', 'How often this happened.'),
    { ...wideColumn('Name', 'The name of the event.'), format: 'name' },
  ],
  cells: (event, now) => {
    const first = sinceCell(event.firstTimestamp || event.eventTime, now);
    const last = event.lastTimestamp ? sinceCell(event.lastTimestamp, now) : first;
    const involved = event.involvedObject;
    const kind = (involved?.kind ?? '').toLowerCase();
    return [
      event.series ? sinceCell(event.series.lastObservedTime, now) : last,
      event.type ?? '',
      event.reason ?? '',
      involved?.name ? `${kind}/${involved.name}` : kind,
      involved?.fieldPath ?? '',
      sourceText(event),
      (event.message ?? '').trim(),
      first,
      event.series ? (event.series.count ?? 0) : event.count || 1,
      event.metadata?.name ?? '',
    ];
  },
};

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance || '';
  return instance ? `${component}, ${instance}` : component;
}
