import type { apidiscoveryV2, meta } from '#api';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

type Resource = apidiscoveryV2.APIResourceDiscovery;

/** Converts an APIResourceList to aggregated discovery. */
export function resourcesFromLegacy(list: readonly meta.APIResource[], place: GroupVersion): Resource[] {
  const named = list.map((entry) => ({ entry, parts: entry.name.split('/') }));
  return named
    .filter(({ parts }) => parts.length === 1)
    .map(({ entry, parts: [resource = ''] }) => {
      const subresources = named
        .filter(({ parts }) => parts.length === 2 && parts[0] === resource)
        .map(({ entry: sub, parts }) => ({ subresource: parts[1]!, responseKind: kindOf(sub, place), verbs: sub.verbs }));
      return {
        resource,
        responseKind: kindOf(entry, place),
        scope: entry.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: entry.singularName,
        verbs: entry.verbs,
        ...(entry.shortNames && { shortNames: entry.shortNames }),
        ...(entry.categories && { categories: entry.categories }),
        ...(subresources.length > 0 && { subresources }),
      };
    });
}

function kindOf({ group, version, kind }: meta.APIResource, place: GroupVersion) {
  return { group: group || place.group, version: version || place.version, kind };
}
