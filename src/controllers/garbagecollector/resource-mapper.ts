import { type DiscoveredResource, type Discovery, preferredResources } from '#client';
import { apiVersionOf } from '#machinery';

/** Maps kinds to resources, as of the last discovery. */
export class ResourceMapper {
  #byKind = new Map<string, DiscoveredResource>();

  update({ resources, failures }: Discovery): void {
    const next = new Map(resources.map((resource) => [kindKey(apiVersionOf(resource), resource.kind), resource]));
    // Groups whose discovery failed keep their previous resources.
    for (const [key, resource] of this.#byKind) if (failures.has(apiVersionOf(resource)) && !next.has(key)) next.set(key, resource);
    this.#byKind = next;
  }

  find(apiVersion: string, kind: string): DiscoveredResource | undefined {
    return this.#byKind.get(kindKey(apiVersion, kind));
  }
}

function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion}\n${kind}`;
}

/** Events neither own nor are owned. */
const IGNORED: ReadonlySet<string> = new Set(['/events', 'events.k8s.io/events']);

/** The resources that can be garbage collected, each in one version. */
export function collectableResources(discovery: Discovery): readonly DiscoveredResource[] {
  return preferredResources(discovery).filter(
    ({ group, resource, verbs }) =>
      !IGNORED.has(`${group}/${resource}`) && ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb)),
  );
}
