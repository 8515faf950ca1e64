import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`rotation of real logs is skipped: ${reason}`);

const POLL = { timeout: 40_000, interval: 100 };

describe.skipIf(reason !== undefined)('a real node', () => {
  it('rotates the log of a container that goes on writing, and shows all that is kept', async () => {
    await using node = await openRealKubelet({ containerLogMaxBytes: 4000, containerLogMaxFiles: 3, containerLogMonitorMs: 500 });
    const { metadata } = await node.run('p', { command: ['sh', '-c', 'i=0; while true; do i=$((i+1)); echo line $i; sleep 0.01; done'] });
    const directory = path.join(node.directory, 'pod-logs', `default_p_${metadata.uid}`, 'c');
    const kinds = async () => (await readdir(directory)).map((name) => name.replace(/\d{8}-\d{6}/, 'TIME')).sort();
    await expect.poll(kinds, POLL).toEqual(['0.log', '0.log.TIME', '0.log.TIME.gz']);
    const answer = await node.kubelet.handle({ method: 'GET', path: '/containerLogs/default/p/c', query: new URLSearchParams() });
    let text = '';
    if ('body' in answer) for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
    const numbers = text
      .trim()
      .split('\n')
      .map((line) => Number(line.slice('line '.length)));
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
    expect(text.length).toBeGreaterThan(500);
  });
});
