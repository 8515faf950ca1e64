import type { AdmissionPlugin } from './admission.ts';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import type { PluginDeps } from './plugins/plugin-deps.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuota } from './plugins/resource-quota.ts';
import { serviceAccount } from './plugins/service-account.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';

/** Every admission plugin that is on by default, in the order in which they run. */
export function builtInPlugins(deps: PluginDeps): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle(deps),
    limitRanger(deps),
    serviceAccount(deps),
    taintNodesByCondition,
    priority(deps),
    defaultTolerationSeconds(),
    resourceQuota(deps),
  ];
}
