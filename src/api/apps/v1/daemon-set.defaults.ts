import { defaultPodTemplate } from '../../core/v1/pod/pod-spec.defaults.ts';
import { fillUnset, fillZero, withField } from '../../defaulting.ts';
import type { DaemonSet, DaemonSetSpec, DaemonSetUpdateStrategy } from './daemon-set.ts';

export function defaultDaemonSet(set: DaemonSet): DaemonSet {
  let spec = fillUnset(set.spec ?? ({} as DaemonSetSpec), { revisionHistoryLimit: 10 });
  spec = withField(spec, 'updateStrategy', defaultStrategy(spec.updateStrategy ?? {}));
  return withField(set, 'spec', withField(spec, 'template', defaultPodTemplate(spec.template)));
}

function defaultStrategy(strategy: DaemonSetUpdateStrategy): DaemonSetUpdateStrategy {
  const typed = fillZero(strategy, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return withField(typed, 'rollingUpdate', fillUnset(typed.rollingUpdate ?? {}, { maxUnavailable: 1, maxSurge: 0 }));
}
