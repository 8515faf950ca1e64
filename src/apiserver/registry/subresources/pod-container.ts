import type { core } from '#api';
import { StatusError } from '#machinery';

/** The container that a request means: the one it names, or the only one. */
export function containerOf({ metadata, spec }: core.Pod, named: string): string {
  const names = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])].map(
    ({ name }) => name,
  );
  const pod = metadata.name;
  if (named !== '') {
    if (names.includes(named)) return named;
    throw StatusError.badRequest(`container ${named} is not valid for pod ${pod}`);
  }
  const containers = spec?.containers ?? [];
  if (containers.length === 1) return containers[0]!.name;
  const choice = containers.length === 0 ? '' : `, choose one of: [${names.join(' ')}]`;
  throw StatusError.badRequest(`a container name must be specified for pod ${pod}${choice}`);
}
