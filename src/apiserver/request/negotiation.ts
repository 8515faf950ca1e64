import { NO_RESOURCE, StatusError, serverResponseError } from '#machinery';
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from './parse-body.ts';

/** What the client wants to get back. */
export interface Negotiated {
  readonly mediaType: string;
  /** A rendering of the object instead of the object itself. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined;
  /** The API version of that rendering. */
  readonly asVersion?: string | undefined;
  readonly pretty: boolean;
}

interface Clause {
  readonly type: string;
  readonly params: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** In what an object can be had. */
export const OBJECT_TYPES: readonly string[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const STREAM_TYPES: readonly string[] = [JSON_TYPE, PROTOBUF_TYPE].map((type) => `${type};stream=watch`);
/** In what a collection can be had: as a list, or as a watch of it. */
export const COLLECTION_TYPES: readonly string[] = [...OBJECT_TYPES, ...STREAM_TYPES];
const TRANSFORMS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
const TRANSFORM_VERSIONS = ['v1', 'v1beta1'];
const PLAIN_JSON: Negotiated = { mediaType: JSON_TYPE, pretty: false };

export interface NegotiationOptions {
  readonly types?: readonly string[];
  /** Whether `as=Table` and the like may be asked for. */
  readonly transforms?: boolean;
  /** Custom resources have no form in protobuf; what stands for them has. */
  readonly custom?: boolean;
}

/** Chooses from an Accept header. Throws NotAcceptable when nothing that can be served is wanted. */
export function negotiate(accept: string | undefined, options: NegotiationOptions = {}): Negotiated {
  if (accept === undefined || accept === '' || accept === JSON_TYPE || accept === '*/*') return PLAIN_JSON;
  for (const clause of parseAccept(accept)) {
    const chosen = serve(clause, options);
    if (chosen !== undefined) return chosen;
  }
  throw StatusError.notAcceptable(options.types ?? OBJECT_TYPES);
}

/**
 * Refuses a client that wants none of the types that a path produces, as upstream's router does before anything else looks at the request: it
 * knows no wildcard but the one for everything, and compares to the letter.
 */
export function checkProducible(accept: string | undefined, types: readonly string[]): void {
  if (!accept || types.includes(accept) || types.includes('*/*')) return;
  const wanted = accept.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim());
  if (wanted.some((type) => type === '*/*' || types.includes(type))) return;
  const serverMessage = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`;
  throw serverResponseError({
    code: 406,
    verb: '',
    resource: NO_RESOURCE,
    name: '',
    serverMessage,
    retryAfterSeconds: 0,
    unexpected: false,
  });
}

/** Chooses for a watch, which is no document but a stream of them: YAML has none. */
export function negotiateWatch(accept: string | undefined, options: NegotiationOptions = {}): Negotiated {
  const negotiated = negotiate(accept, options);
  if (negotiated.mediaType !== YAML_TYPE) return negotiated;
  throw StatusError.notAcceptable(STREAM_TYPES);
}

function serve({ type, params }: Clause, { types = OBJECT_TYPES, transforms = true, custom }: NegotiationOptions): Negotiated | undefined {
  const mediaType = type === '*/*' ? types[0]! : types.find((known) => known === type);
  if (mediaType === undefined) return undefined;
  const as = params.get('as');
  const pretty = params.get('pretty') === '1';
  const [version = '', group = '', stream = ''] = ['v', 'g', 'stream'].map((name) => params.get(name));
  if (stream !== '' && stream !== 'watch') return undefined;
  if (as === undefined) {
    const isServed = !params.has('v') && !params.has('g') && !(custom && mediaType === PROTOBUF_TYPE);
    return isServed ? { mediaType, pretty } : undefined;
  }
  if (!transforms || !TRANSFORMS.includes(as) || !TRANSFORM_VERSIONS.includes(version) || group !== 'meta.k8s.io') return undefined;
  return { mediaType, pretty, as: as as NonNullable<Negotiated['as']>, asVersion: `${group}/${version}` };
}

const AGGREGATED: ReadonlyMap<string, string> = new Map([
  ['g', 'apidiscovery.k8s.io'],
  ['v', 'v2'],
  ['as', 'APIGroupDiscoveryList'],
]);

/** The type in which a client wants discovery all in one document; undefined when it prefers, or only knows, one document a version. */
export function negotiateAggregated(accept: string | undefined): string | undefined {
  if (!accept?.includes('apidiscovery.k8s.io')) return undefined;
  for (const { type, params } of parseAccept(accept)) {
    const mediaType = type === '*/*' ? JSON_TYPE : OBJECT_TYPES.find((known) => known === type);
    if (mediaType === undefined) continue;
    const stated = [...AGGREGATED.keys()].filter((name) => params.has(name));
    if (stated.length === 0) return undefined;
    if ([...AGGREGATED].every(([name, value]) => params.get(name) === value)) return mediaType;
  }
  return undefined;
}

/** The content type of such a document. */
export function aggregatedType(mediaType: string): string {
  return [mediaType, ...[...AGGREGATED].map(([name, value]) => `${name}=${value}`)].join(';');
}

/** The clauses of an Accept header, the most wanted first. */
export function parseAccept(accept: string): readonly Clause[] {
  const clauses = accept.split(',').flatMap((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    if (type === '') return [];
    const params = new Map(rest.map((param) => param.split('=', 2).map((side) => side.trim()) as [string, string]));
    return [{ type: type.toLowerCase(), params, quality: Number(params.get('q') ?? 1) }];
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}
