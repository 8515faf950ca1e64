import { collectorEndpoint, curveNames } from '#base';
import { FieldError, goQuote, Path } from '#machinery';
import type { DefaultedConfiguration } from './defaults.ts';

const DETECTION_STRATEGIES = ['Get', 'Cache', 'Watch'];
const LOG_FORMATS = ['text', 'json'];
const MILLION = 1_000_000;

/** Values that upstream rejects where it uses them rather than in its validation, and values that are not supported here. */
export function valueProblems(c: DefaultedConfiguration): readonly string[] {
  const { configMapAndSecretChangeDetectionStrategy: strategy, cgroupDriver, logging } = c;
  return [
    ...problem(
      !['cgroupfs', 'systemd'].includes(cgroupDriver),
      `cgroupDriver (--cgroup-driver) ${goQuote(cgroupDriver)} must be cgroupfs or systemd`,
    ),
    ...curveProblems(c),
    ...(DETECTION_STRATEGIES.includes(strategy) ? [] : [`unknown configmap and secret manager mode: ${goQuote(strategy)}`]),
    ...(logging?.format && !LOG_FORMATS.includes(logging.format)
      ? [FieldError.invalid(Path.of('logging', 'format'), logging.format, 'Unsupported log format').toString()]
      : []),
    ...problem(
      c.enableControllerAttachDetach === false,
      'enableControllerAttachDetach (--enable-controller-attach-detach) false is not supported: the attach-detach controller attaches volumes',
    ),
    ...problem(
      c.topologyManagerPolicyOptions?.['prefer-closest-numa-nodes'] === 'true',
      'topologyManagerPolicyOptions prefer-closest-numa-nodes is not supported: NUMA nodes are not told apart by their distance',
    ),
    ...problem(
      Boolean(c.systemCgroups),
      'systemCgroups (--system-cgroups) is not supported: processes of the system stay in their cgroups',
    ),
  ];
}

export function tracingProblems({ tracing }: DefaultedConfiguration): readonly string[] {
  const { samplingRatePerMillion: rate = 0, endpoint } = tracing ?? {};
  const path = Path.of('tracing', 'samplingRatePerMillion');
  const { name, problem: detail } = collectorEndpoint(endpoint);
  return [
    ...(rate < 0 ? [FieldError.invalid(path, rate, 'sampling rate must be positive')] : []),
    ...(rate > MILLION ? [FieldError.invalid(path, rate, 'sampling rate per million must be less than or equal to one million')] : []),
    ...(detail === undefined ? [] : [FieldError.invalid(Path.of('tracing', 'endpoint'), name, detail)]),
  ].map(String);
}

function curveProblems({ tlsCurvePreferences: curves = [] }: DefaultedConfiguration): readonly string[] {
  try {
    if (curves.length > 0) curveNames(curves);
    return [];
  } catch (error) {
    return problem(true, `tlsCurvePreferences: ${(error as Error).message}`);
  }
}

function problem(isBad: boolean, message: string): readonly string[] {
  return isBad ? [`invalid configuration: ${message}`] : [];
}
