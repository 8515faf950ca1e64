import type { batch, core } from '#api';

export interface FailurePolicyMatch {
  readonly action: string | undefined;
  /** Whether the failure counts towards the limits. */
  readonly counts: boolean;
  /** Why the job fails at once, if it does. */
  readonly message?: string;
}

/** The action of the first failure policy rule that matches the pod. */
export function matchFailurePolicy(policy: batch.PodFailurePolicy | undefined, pod: core.Pod): FailurePolicyMatch {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const reason = rule.onExitCodes ? exitReason(rule.onExitCodes, pod) : conditionReason(rule.onPodConditions ?? [], pod);
    if (reason === undefined) continue;
    const { action } = rule;
    if (action === 'FailJob') return { action, counts: true, message: `${reason} matching ${action} rule at index ${index}` };
    return { action, counts: action !== 'Ignore' };
  }
  return { action: undefined, counts: true };
}

function exitReason(requirement: batch.PodFailurePolicyOnExitCodesRequirement, { metadata, status }: core.Pod): string | undefined {
  const matches = ({ name, state }: core.ContainerStatus) => {
    const code = state?.terminated?.exitCode ?? 0;
    const isNamed = requirement.containerName === undefined || requirement.containerName === name;
    return isNamed && code !== 0 && requirement.values.includes(code) === (requirement.operator === 'In');
  };
  const container = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(matches);
  if (container === undefined) return undefined;
  const { namespace, name } = metadata;
  return `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${container.state?.terminated?.exitCode}`;
}

function conditionReason(patterns: readonly batch.PodFailurePolicyOnPodConditionsPattern[], { metadata, status }: core.Pod) {
  const match = (status?.conditions ?? []).find((condition) =>
    patterns.some((pattern) => pattern.type === condition.type && (pattern.status ?? 'True') === condition.status),
  );
  return match && `Pod ${metadata.namespace}/${metadata.name} has condition ${match.type}`;
}
