import type { core } from '#api';
import { StatusError } from '#machinery';

/** The requested container, or the only one. */
export function containerOf({ metadata, spec }: core.Pod, containerName: string): string {
  const names = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])].map(
    ({ name }) => name,
  );
  const pod = metadata.name;
  if (containerName !== '') {
    if (names.includes(containerName)) return containerName;
    throw StatusError.badRequest(`container ${containerName} is not valid for pod ${pod}`);
  }
  const containers = spec?.containers ?? [];
  if (containers.length === 1) return containers[0]!.name;
  const choice = containers.length === 0 ? '' : `, choose one of: [${names.join(' ')}]`;
  throw StatusError.badRequest(`a container name must be specified for pod ${pod}${choice}`);
}
