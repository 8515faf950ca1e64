import type { LogEntry } from './container-logs.ts';
import { parseLogLine } from './cri-log-line.ts';
import { LineCutter, LogFile } from './log-files.ts';

/** The last entries of a log file; none when there is no such file. */
export async function tailEntries(path: string, lines: number): Promise<readonly LogEntry[]> {
  await using file = await LogFile.open(path);
  await file?.seekTail(lines);
  const cutter = new LineCutter();
  const entries: LogEntry[] = [];
  for (let chunk = await file?.next(); chunk !== undefined; chunk = await file?.next())
    for (const line of cutter.push(chunk)) {
      const entry = parseLogLine(line);
      if (entry !== undefined) entries.push(entry);
    }
  return entries;
}
