import type { AdmissionPlugin } from './admission.ts';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import type { PluginDeps } from './plugins/plugin-deps.ts';
import { priority } from './plugins/priority.ts';
import { serviceAccount } from './plugins/service-account.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';

/** Every admission plugin that is on by default, in the order in which they run. */
export function builtInPlugins(deps: PluginDeps): readonly AdmissionPlugin[] {
  return [namespaceLifecycle(deps), serviceAccount(deps), taintNodesByCondition, priority(deps), defaultTolerationSeconds()];
}
