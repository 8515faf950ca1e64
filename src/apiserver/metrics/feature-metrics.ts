import type { MetricsRegistry } from '#base';
import type { FeatureGates, GateStage } from '#machinery';

const STAGES: Readonly<Record<GateStage, string>> = {
  PreAlpha: 'PRE-ALPHA',
  Alpha: 'ALPHA',
  Beta: 'BETA',
  GA: '',
  Deprecated: 'DEPRECATED',
};

/** Enabled feature gates, by name and stage. */
export function featureMetrics(metrics: MetricsRegistry, gates: FeatureGates): void {
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature is on, by its stage.',
    labels: ['name', 'stage'],
  });
  for (const { name, stage, isEnabled } of gates.all()) enabled.with({ name, stage: STAGES[stage] }).set(isEnabled ? 1 : 0);
}
