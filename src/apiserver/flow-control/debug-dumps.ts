import { maxOf } from '#base';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import { PAGE_NOT_FOUND } from '../handlers/route.ts';
import type { FlowController } from './flow-controller.ts';
import type { PriorityLevel } from './priority-level.ts';
import type { Ticket } from './ticket.ts';

type Row = readonly (string | number | boolean)[];

const LEVEL_COLUMNS = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
];
const QUEUE_COLUMNS = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
];
const REQUEST_COLUMNS = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
];
const DETAIL_COLUMNS = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];

/** The dumps below `/debug/api_priority_and_fairness`. */
export function flowControlDumps(controller: FlowController): Handler {
  const sorted = () => [...controller.levels()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return ({ path, query }) => {
    switch (path) {
      case '/debug/api_priority_and_fairness/dump_priority_levels':
        return table([LEVEL_COLUMNS, ...sorted().map(levelRow)]);
      case '/debug/api_priority_and_fairness/dump_queues':
        return table([QUEUE_COLUMNS, ...sorted().flatMap(queueRows)]);
      case '/debug/api_priority_and_fairness/dump_requests': {
        const hasDetails = (query.get('includeRequestDetails') ?? '') !== '';
        const columns = hasDetails ? [...REQUEST_COLUMNS, ...DETAIL_COLUMNS] : REQUEST_COLUMNS;
        return table([columns, ...sorted().flatMap((level) => requestRows(level, hasDetails))]);
      }
      default:
        return PAGE_NOT_FOUND;
    }
  };
}

function levelRow(level: PriorityLevel<Ticket>): Row {
  const { name, isIdle, isQuiescing, waiting, executing, dispatched, rejected, timedOut } = level;
  // Disconnected requests in a queue are still answered: none is cancelled.
  return [name, level.queues?.activeQueues ?? 0, isIdle, isQuiescing, waiting, executing.size, dispatched, rejected, timedOut, 0];
}

function queueRows({ name, queues }: PriorityLevel<Ticket>): readonly Row[] {
  return [...(queues?.queues() ?? [])].map(({ index, waiting, executing, seatsInUse, nextStart, work }) => {
    const initial = waiting.reduce((sum, { estimate }) => sum + estimate.initialSeats, 0);
    const most = waiting.reduce((sum, { seats }) => sum + seats, 0);
    return [name, index, waiting.length, executing, seatsInUse, seconds(nextStart), initial, most, seconds(work)];
  });
}

/** Executing requests have the queue index -1. */
function requestRows(level: PriorityLevel<Ticket>, hasDetails: boolean): readonly Row[] {
  const waiting = [...(level.queues?.queues() ?? [])].flatMap(({ index, waiting: tickets }) =>
    tickets.map((ticket, position) => ({ ticket, index, position })),
  );
  const running = [...level.executing].map((ticket) => ({ ticket, index: -1, position: -1 }));
  return [...waiting, ...running].map(({ ticket, index, position }) => {
    const { initialSeats, finalSeats, additionalLatencyMs } = ticket.estimate;
    const arrived = ticket.arrivedAt === 0 ? '' : new Date(ticket.arrivedAt).toISOString();
    const place = [level.name, ticket.entry.name, index, position, ticket.distinguisher, arrived];
    const row = [...place, initialSeats, finalSeats, `${additionalLatencyMs}ms`];
    return hasDetails ? [...row, ...detailsOf(ticket)] : row;
  });
}

function detailsOf({ request: { user, info } }: Ticket): Row {
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`;
  return [user?.name ?? '', info.verb, info.path, info.namespace, info.name, apiVersion, info.resource, info.subresource];
}

function seconds(value: number): string {
  return `${value.toFixed(8)}ss`;
}

/** Aligned columns, as Go's tabwriter. */
function table(rows: readonly Row[]): ApiResponse {
  const texts = rows.map((row) => row.map((cell, i) => (i < row.length - 1 ? `${cell},` : String(cell))));
  const widths = rows[0]!.map((_, i) => maxOf(texts.map((row) => row[i]!.length)) + 1);
  const body = texts.map((row) => `${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(Math.max(widths[i]!, 8)) : cell)).join('')}\n`);
  return { type: 'raw', code: 200, contentType: 'text/plain; charset=utf-8', body: body.join('') };
}
