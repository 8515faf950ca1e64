import { core } from '#api';
import { StatusError } from '#machinery';

export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly skipVerification: boolean;
  /** The validated options, for the kubelet. */
  readonly query: URLSearchParams;
}

/** The options of a request for logs. Throws a StatusError if they are invalid. */
export function readLogOptions(query: URLSearchParams, pod: string): LogOptions {
  const options = core.parsePodLogOptions(query);
  const errors = core.validatePodLogOptions(options, { allowsStream: false });
  if (errors.length > 0) throw StatusError.invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
  const { container = '', follow = false, insecureSkipTLSVerifyBackend: skipVerification = false } = options;
  return { container, follow, skipVerification, query: kubeletQuery(options) };
}

function kubeletQuery(options: core.PodLogOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps'] as const) if (options[name]) query.set(name, 'true');
  for (const name of ['tailLines', 'limitBytes', 'sinceSeconds', 'sinceTime'] as const) {
    const value = options[name];
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}
