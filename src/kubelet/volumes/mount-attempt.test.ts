import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { VirtualClock } from '#base';
import { MountAttempt } from './mount-attempt.ts';
import { PodRecord } from './pod-record.ts';

const volume = (name: string): core.Volume => ({ name });

function attempt(...volumes: readonly string[]) {
  const clock = new VirtualClock();
  const record = new PodRecord(clock);
  const reports: string[] = [];
  const { signal } = new AbortController();
  const report = ({ message }: Error) => void reports.push(message);
  const mount = new MountAttempt({ record, volumes: volumes.map(volume), signal, clock, report });
  return { clock, record, reports, mount };
}

describe('an attempt to mount the volumes of a pod', () => {
  it('reports volumes that cannot be looked up early and once', async () => {
    const { clock, reports, mount } = attempt('v', 'w');
    mount.failed(volume('v'), new Error('error processing PVC d/c: PVC is not bound'));
    await clock.advance(1000);
    mount.failed(volume('v'), new Error('error processing PVC d/c: PVC is not bound'));
    await clock.advance(1000);
    expect(reports).toEqual([
      'Unable to attach or mount volumes: unmounted volumes=[v w], unattached volumes=[], failed to process volumes=[v]: error processing PVC d/c: PVC is not bound',
    ]);
  });

  it('does not report volumes that were found meanwhile', async () => {
    const { clock, reports, mount } = attempt('v');
    mount.failed(volume('v'), new Error('not yet'));
    mount.succeeded(volume('v'));
    await clock.advance(1000);
    expect(reports).toEqual([]);
  });
});
