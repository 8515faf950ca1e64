import type { LogEntry } from './container-logs.ts';

const SPACE = 32;
const NEWLINE = Buffer.from('\n');

/** Parses a line of a CRI log: `TIME STREAM TAGS CONTENT`, without its newline. Undefined if malformed. */
export function parseLogLine(line: Buffer): LogEntry | undefined {
  const timeEnd = line.indexOf(SPACE);
  const streamEnd = line.indexOf(SPACE, timeEnd + 1);
  const tagsEnd = line.indexOf(SPACE, streamEnd + 1);
  if (timeEnd < 0 || streamEnd < 0 || tagsEnd < 0) return undefined;
  const time = line.toString('latin1', 0, timeEnd);
  const stream = line.toString('latin1', timeEnd + 1, streamEnd);
  const timeMs = Date.parse(time);
  if (Number.isNaN(timeMs) || (stream !== 'stdout' && stream !== 'stderr')) return undefined;
  const [tag] = line.toString('latin1', streamEnd + 1, tagsEnd).split(':');
  const content = line.subarray(tagsEnd + 1);
  // A partial line continues in the next entry.
  return { time, timeMs, stream, content: tag === 'P' ? Buffer.from(content) : Buffer.concat([content, NEWLINE]) };
}
