import { afterAll, beforeAll, describe, test } from 'vitest';
import { realClock, seededRandom, systemRandom } from '#base';
import { createPki } from '#cluster';
import { bundleProgram, type ChildProgram } from './child-program.ts';
import { patience, SEED, times } from './length.ts';
import { KillSchedule, type KillSchedulePrograms } from './storage/kill-schedule.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.info('tests of killed storage are skipped: they mount, and need root');

const NOTHING = { mounts: [], loops: [], nodes: [], volumes: [], violations: '' };

describe.skipIf(!isRoot)('volumes of a cluster and a driver that are killed at any step', () => {
  const bundles: ChildProgram[] = [];
  let programs: KillSchedulePrograms;
  beforeAll(async () => {
    bundles.push(await bundleProgram('storage-part'), await bundleProgram('csi-driver'));
    const [part, driver] = bundles as [ChildProgram, ChildProgram];
    const pki = await createPki({ now: realClock.now(), random: systemRandom, names: { ipAddresses: ['127.0.0.1'] } });
    programs = { part, driver, pki };
  });
  afterAll(async () => {
    for (const bundle of bundles) await bundle[Symbol.asyncDispose]();
  });

  const schedules = Array.from({ length: times(4, 500) }, (_, index) => `${SEED}/${index}`);
  // A schedule is mostly idle, so several run concurrently.
  test.concurrent.for(schedules)(
    'keep what was fsynced, are on one node at a time, and leave nothing behind (seed %s)',
    { timeout: patience(400_000) },
    // Concurrent tests need an `expect` of their own.
    async (seed, { expect }) => {
      const random = seededRandom(seed);
      await using schedule = await KillSchedule.start(programs, random);
      const kills = 1 + Math.floor(random.float() * 4);
      for (let i = 0; i < kills; i++) await schedule.kill();
      await schedule.finish();
      await expect.poll(() => schedule.leftovers(), { timeout: 30_000, interval: 250 }).toEqual(NOTHING);
    },
  );
});
