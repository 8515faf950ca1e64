import { defaultPodTemplate } from '../../core/v1/pod/pod-spec.defaults.ts';
import { fillUnset, fillZero, withField } from '../../defaulting.ts';
import type { Deployment, DeploymentSpec, DeploymentStrategy } from './deployment.ts';

const EMPTY_SPEC = {} as DeploymentSpec;

export function defaultDeployment(deployment: Deployment): Deployment {
  let spec = fillUnset(deployment.spec ?? EMPTY_SPEC, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  spec = withField(spec, 'strategy', defaultStrategy(spec.strategy ?? {}));
  return withField(deployment, 'spec', withField(spec, 'template', defaultPodTemplate(spec.template)));
}

function defaultStrategy(strategy: DeploymentStrategy): DeploymentStrategy {
  const typed = fillZero(strategy, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return withField(typed, 'rollingUpdate', fillUnset(typed.rollingUpdate ?? {}, { maxUnavailable: '25%', maxSurge: '25%' }));
}
