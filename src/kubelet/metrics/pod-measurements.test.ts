import { expect, it } from 'vitest';
import type { core } from '#api';
import { realClock } from '#base';
import { KubeletMetrics } from './kubelet-metrics.ts';
import { PodMeasurements } from './pod-measurements.ts';

const status = (name: string, state: core.ContainerState) => ({ name, state, image: '', imageID: '', ready: false, restartCount: 0 });
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const ended = (exitCode: number, reason: string) => ({ terminated: { exitCode, reason } });

it('each termination of a container is counted once, by type, exit code and reason', () => {
  const kubeletMetrics = new KubeletMetrics('n');
  const measurements = new PodMeasurements({ clock: realClock, kubeletMetrics }, () => ({ metadata: { name: 'p' } }) as core.Pod);
  const reports: readonly core.PodStatus[] = [
    {},
    { initContainerStatuses: [status('i', ended(0, 'Completed'))], containerStatuses: [status('a', running), status('b', running)] },
    {
      initContainerStatuses: [status('i', ended(0, 'Completed'))],
      containerStatuses: [status('a', ended(3, 'Error')), status('b', running)],
    },
    { initContainerStatuses: [status('i', ended(0, 'Completed'))], containerStatuses: [status('a', running), status('b', running)] },
    {
      initContainerStatuses: [status('i', ended(0, 'Completed'))],
      containerStatuses: [status('a', ended(3, 'Error')), status('b', running)],
    },
  ];
  for (const [i, report] of reports.slice(1).entries()) measurements.report(reports[i]!, report);
  const lines = kubeletMetrics.registry.text().split('\n');
  expect(lines.filter((line) => line.startsWith('kubelet_terminated_containers_total{'))).toEqual([
    'kubelet_terminated_containers_total{container_type="container",exit_code="3",reason="Error"} 2',
    'kubelet_terminated_containers_total{container_type="init_container",exit_code="0",reason="Completed"} 1',
  ]);
});
