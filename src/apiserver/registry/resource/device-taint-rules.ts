import { resourceV1alpha3 as v1alpha3 } from '#api';
import { formatTime } from '#machinery';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { RequestScope, ResourceStrategy } from '../generic/strategy.ts';

type Rule = v1alpha3.DeviceTaintRule;

/** A taint was added when its effect was last changed, unless the client says otherwise. */
function withTimeAdded(rule: Rule, { now }: RequestScope, old?: Rule): Rule {
  const taint = rule.spec?.taint;
  const before = old?.spec?.taint;
  const isNewEffect = before !== undefined && before.effect !== taint?.effect && before.timeAdded === taint?.timeAdded;
  if (!taint || (taint.timeAdded && !isNewEffect)) return rule;
  return { ...rule, spec: { ...rule.spec, taint: { ...taint, timeAdded: formatTime(now) } } };
}

export const deviceTaintRulesStrategy: ResourceStrategy<Rule> = {
  ...v1alpha3.deviceTaintRuleBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  prepareForCreate: (rule, scope) => withTimeAdded(rule, scope),
  prepareForUpdate: (rule, old, scope) => withTimeAdded(rule, scope, old),
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  returnsDeletedObject: true,
};

function withoutStatus(request: v1alpha3.ResourcePoolStatusRequest): v1alpha3.ResourcePoolStatusRequest {
  const { status: _, ...rest } = request;
  return rest;
}

export const resourcePoolStatusRequestsStrategy: ResourceStrategy<v1alpha3.ResourcePoolStatusRequest> = {
  ...v1alpha3.resourcePoolStatusRequestBehaviour,
  allowUnconditionalUpdate: false,
  hasStatus: true,
  prepareForCreate: withoutStatus,
  prepareForStatusUpdate: keepMetadata,
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  returnsDeletedObject: true,
};
