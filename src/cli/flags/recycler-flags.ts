import { core } from '#api';
import { type ControllerManagerConfig, DEFAULT_CONTROLLER_OPTIONS } from '#controllers';
import { decodeObject, isJsonObject, parseYaml } from '#machinery';
import { type Flag, type FlagTable, fileText, wholeNumberValue } from './flag-table.ts';

type Recyclers = (typeof DEFAULT_CONTROLLER_OPTIONS)['pvRecyclers'];
type Plugin = keyof Recyclers;

/** Flags of the pods that empty volumes with the deprecated policy Recycle. */
export const RECYCLER_FLAGS: FlagTable<ControllerManagerConfig> = {
  'pv-recycler-pod-template-filepath-hostpath': templateFlag('hostPath', 'hostPath'),
  'pv-recycler-pod-template-filepath-nfs': templateFlag('nfs', 'NFS'),
  'pv-recycler-minimum-timeout-hostpath': secondsFlag(
    'hostPath',
    'minimumTimeoutSeconds',
    'how long a recycler pod of a hostPath volume may run at least (default: 60)',
  ),
  'pv-recycler-minimum-timeout-nfs': secondsFlag(
    'nfs',
    'minimumTimeoutSeconds',
    'how long a recycler pod of an NFS volume may run at least (default: 300)',
  ),
  'pv-recycler-timeout-increment-hostpath': secondsFlag(
    'hostPath',
    'timeoutIncrementSeconds',
    'the time for each Gi of a hostPath volume (default: 30)',
  ),
  'pv-recycler-increment-timeout-nfs': secondsFlag('nfs', 'timeoutIncrementSeconds', 'the time for each Gi of an NFS volume (default: 30)'),
};

function templateFlag(plugin: Plugin, noun: string): Flag<ControllerManagerConfig> {
  return {
    value: 'file',
    help: `the pod that empties ${noun} volumes, as YAML or JSON; its first volume is replaced`,
    apply: (config, value, context) => withRecycler(config, plugin, { template: podTemplate(fileText(value, context), value) }),
  };
}

function secondsFlag(
  plugin: Plugin,
  key: 'minimumTimeoutSeconds' | 'timeoutIncrementSeconds',
  help: string,
): Flag<ControllerManagerConfig> {
  return { value: 'seconds', help, apply: (config, value) => withRecycler(config, plugin, { [key]: wholeNumberValue(value) }) };
}

function withRecycler(config: ControllerManagerConfig, plugin: Plugin, part: Partial<Recyclers[Plugin]>): ControllerManagerConfig {
  const recyclers = config.options?.pvRecyclers ?? DEFAULT_CONTROLLER_OPTIONS.pvRecyclers;
  const pvRecyclers = { ...recyclers, [plugin]: { ...recyclers[plugin], ...part } };
  return { ...config, options: { ...config.options, pvRecyclers } };
}

function podTemplate(text: string, file: string): core.Pod {
  const { value } = parseYaml(text);
  if (!isJsonObject(value) || value.kind !== 'Pod') throw new Error(`${file} is not a Pod`);
  const { object, error } = decodeObject(core.Pod, value);
  if (error !== undefined) throw new Error(`${file} is not a Pod: ${error}`);
  const pod = object as unknown as core.Pod;
  if ((pod.spec?.volumes ?? []).length === 0) throw new Error(`${file}: pod specification does not contain any volume(s)`);
  return pod;
}
