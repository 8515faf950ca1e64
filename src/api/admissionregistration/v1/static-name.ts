const RESERVED_SUFFIX = '.static.k8s.io';

/** Names reserved for configuration that a server reads from files. */
export function staticNameWarnings({ metadata }: { readonly metadata: { readonly name: string } }): readonly string[] {
  if (!metadata.name.endsWith(RESERVED_SUFFIX)) return [];
  const reason = 'are reserved for static manifest-based configurations and cannot be managed via the API';
  return [`metadata.name: names ending with "${RESERVED_SUFFIX}" ${reason}`];
}
