import type { batch } from '#api';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A schedule without a match for this long, such as February 30th, never matches. */
const HORIZON_DAYS = 5 * 366;

/** The first time of a schedule after `after`, in milliseconds; undefined when there is none. `zone` is used when the schedule names none. */
export function nextTime(schedule: batch.CronSchedule, after: number, zone: string): number | undefined {
  if ('every' in schedule) {
    const second = Math.floor(after / 1000) * 1000;
    return second + Number(schedule.every / 1_000_000n);
  }
  const offsetAt = offsets(schedule.timeZone ?? zone);
  const localDay = Math.floor((after + offsetAt(after)) / DAY_MS) * DAY_MS;
  for (let day = 0; day <= HORIZON_DAYS; day++) {
    const start = localDay + day * DAY_MS;
    if (!matchesDay(schedule, start)) continue;
    const time = firstOnDay(schedule, start, { after, offsetAt });
    if (time !== undefined) return time;
  }
  return undefined;
}

type FieldSchedule = Exclude<batch.CronSchedule, { readonly every: bigint }>;

function matchesDay(schedule: FieldSchedule, localMs: number): boolean {
  const date = new Date(localMs);
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const isDay = schedule.daysOfMonth.has(date.getUTCDate());
  const isWeekday = schedule.daysOfWeek.has(date.getUTCDay());
  return schedule.anyDayOfMonth || schedule.anyDayOfWeek ? isDay && isWeekday : isDay || isWeekday;
}

interface Search {
  readonly after: number;
  readonly offsetAt: (ms: number) => number;
}

function firstOnDay({ hours, minutes }: FieldSchedule, start: number, { after, offsetAt }: Search): number | undefined {
  const sortedMinutes = [...minutes].sort((a, b) => a - b);
  for (const hour of [...hours].sort((a, b) => a - b)) {
    for (const minute of sortedMinutes) {
      const local = start + (hour * 60 + minute) * MINUTE_MS;
      const time = local - offsetAt(local - offsetAt(local));
      // A local time that is skipped by a DST change does not occur.
      if (time > after && time + offsetAt(time) === local) return time;
    }
  }
  return undefined;
}

/** The UTC offset of a time zone at a time. */
function offsets(zone: string): (ms: number) => number {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return () => 0;
  const options = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...options });
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
  };
}

/** The time in the zone's local form, with its offset. */
export function zonedTime(ms: number, zone: string): string {
  const offset = offsets(zone)(ms);
  const text = new Date(ms + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const total = Math.abs(offset) / MINUTE_MS;
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${text}${offset < 0 ? '-' : '+'}${pad(Math.floor(total / 60))}:${pad(total % 60)}`;
}
