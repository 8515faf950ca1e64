import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '#base';
import { type EmbeddedStore, openEmbeddedStore } from '#store';
import { bundleProgram } from './child-program.ts';
import { patience, SEED, times } from './length.ts';

interface AcknowledgedWrite {
  readonly number: number;
  readonly revision: number;
}

test(`what was acknowledged survives kill -9, and nothing is there by halves (seed ${SEED})`, { timeout: patience(120_000) }, async () => {
  const random = seededRandom(`${SEED} kill`);
  const directory = await mkdtemp(join(tmpdir(), 'sampan-kill-'));
  await using writer = await bundleProgram('writer');
  let number = 0;
  let highest = 0;
  for (let round = 0; round < times(20, 250); round++) {
    const running = writer.start([join(directory, 'store'), String(number), String(random.pick([1, 10, 100]))]);
    await running.wrote(1 + random.int(400));
    await new Promise((resolve) => setTimeout(resolve, random.int(30)));
    running.process.kill('SIGKILL');
    const { signal } = await running.ended;
    expect(signal, `the writer ended by itself: ${running.errors.join('')}`).toBe('SIGKILL');
    const acknowledged = running.lines.filter((line) => line.startsWith('ack ')).map(parse);
    await using store = await openEmbeddedStore({
      directory: join(directory, 'store'),
      verify: true,
      historyWindowMs: Number.POSITIVE_INFINITY,
    });
    expect(await faults(store, acknowledged), `round ${round}`).toEqual([]);
    const revision = await store.revision();
    highest = Math.max(highest, ...acknowledged.map((ack) => ack.revision));
    expect(revision).toBeGreaterThanOrEqual(highest);
    number = Math.max(number, ...acknowledged.map((ack) => ack.number)) + 1_000;
  }
  expect(highest).toBeGreaterThan(100);
  await rm(directory, { recursive: true });
});

function parse(line: string): AcknowledgedWrite {
  const [, number, revision] = line.split(' ').map(Number);
  return { number: number!, revision: revision! };
}

async function faults(store: EmbeddedStore, acknowledged: readonly AcknowledgedWrite[]): Promise<string[]> {
  const problems: string[] = [];
  const page = await store.range({ prefix: '/' });
  if (page.status !== 'ok') return ['the present is compacted'];
  const entries = new Map(page.entries.map((entry) => [entry.key, entry]));
  const numberOf = (key: string) => Number.parseInt(Buffer.from(entries.get(key)?.value ?? []).toString(), 10);
  for (let slot = 0; slot < 97; slot++) {
    const [left, right] = [entries.get(`/left/${slot}`), entries.get(`/right/${slot}`)];
    const same =
      left?.modRevision === right?.modRevision && Buffer.compare(left?.value ?? Buffer.alloc(0), right?.value ?? Buffer.alloc(0)) === 0;
    if (!same) problems.push(`slot ${slot} is there by halves: ${left?.modRevision} and ${right?.modRevision}`);
  }
  for (const { number, revision } of acknowledged) {
    const key = `/left/${number % 97}`;
    const entry = entries.get(key);
    // A later write may have overwritten it, but not an earlier one.
    if (entry === undefined || entry.modRevision < revision)
      problems.push(`write ${number} of revision ${revision} is lost: ${entry?.modRevision}`);
    else if (entry.modRevision === revision && numberOf(key) !== number)
      problems.push(`revision ${revision} holds ${numberOf(key)}, not ${number}`);
  }
  return problems;
}
