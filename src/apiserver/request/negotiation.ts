import { NO_RESOURCE, StatusError, serverResponseError } from '#machinery';
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from './parse-body.ts';

/** The negotiated form of a response. */
export interface NegotiatedFormat {
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

/** Media types of objects. */
export const OBJECT_TYPES: readonly string[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const STREAM_TYPES: readonly string[] = [JSON_TYPE, PROTOBUF_TYPE].map((type) => `${type};stream=watch`);
/** Media types of collections: lists and watches. */
export const COLLECTION_TYPES: readonly string[] = [...OBJECT_TYPES, ...STREAM_TYPES];
const TRANSFORMS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
const TRANSFORM_VERSIONS = ['v1', 'v1beta1'];
const PLAIN_JSON: NegotiatedFormat = { mediaType: JSON_TYPE, pretty: false };
const PLAIN_PROTOBUF: NegotiatedFormat = { mediaType: PROTOBUF_TYPE, pretty: false };

export interface NegotiationOptions {
  readonly types?: readonly string[];
  /** Whether `as=Table` and the like are supported. */
  readonly transforms?: boolean;
  /** Kinds that cannot be listed have no table. */
  readonly tables?: boolean;
  /** Custom resources have no protobuf form; Tables and metadata of them have. */
  readonly custom?: boolean;
}

/** Chooses from an Accept header. Throws NotAcceptable if no type can be served. */
export function negotiate(accept: string | undefined, options: NegotiationOptions = {}): NegotiatedFormat {
  if (accept === undefined || accept === '' || accept === JSON_TYPE || accept === '*/*') return PLAIN_JSON;
  if (!accept.includes(';')) return negotiateNames(accept, options);
  for (const clause of parseAccept(accept)) {
    const chosen = serve(clause, options);
    if (chosen !== undefined) return chosen;
  }
  throw StatusError.notAcceptable(options.types ?? OBJECT_TYPES);
}

/** An Accept header without parameters, as most clients send it with every request: its types are of one quality, so the first that is served is chosen. */
function negotiateNames(accept: string, { types = OBJECT_TYPES, custom }: NegotiationOptions): NegotiatedFormat {
  for (let from = 0; from <= accept.length; ) {
    const comma = accept.indexOf(',', from);
    const end = comma < 0 ? accept.length : comma;
    const mediaType = servedType(accept.slice(from, end).trim().toLowerCase(), types);
    if (mediaType !== undefined && !(custom && mediaType === PROTOBUF_TYPE)) return plainFormat(mediaType);
    from = end + 1;
  }
  throw StatusError.notAcceptable(types);
}

function servedType(type: string, types: readonly string[]): string | undefined {
  if (type === '*/*') return types[0]!;
  return types.includes(type) ? type : undefined;
}

function plainFormat(mediaType: string): NegotiatedFormat {
  if (mediaType === JSON_TYPE) return PLAIN_JSON;
  return mediaType === PROTOBUF_TYPE ? PLAIN_PROTOBUF : { mediaType, pretty: false };
}

/**
 * 406 for clients that accept none of the path's types, as upstream's router does first: it knows no wildcard but `*` for both parts, and
 * compares exactly.
 */
export function checkProducible(accept: string | undefined, types: readonly string[]): void {
  if (!accept || types.includes(accept) || types.includes('*/*')) return;
  const acceptedTypes = accept.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim());
  if (acceptedTypes.some((type) => type === '*/*' || types.includes(type))) return;
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

/** Negotiates a watch, which has no YAML form. */
export function negotiateWatch(accept: string | undefined, options: NegotiationOptions = {}): NegotiatedFormat {
  const negotiated = negotiate(accept, options);
  if (negotiated.mediaType !== YAML_TYPE) return negotiated;
  throw StatusError.notAcceptable(STREAM_TYPES);
}

function serve(
  { type, params }: Clause,
  { types = OBJECT_TYPES, transforms = true, tables = true, custom }: NegotiationOptions,
): NegotiatedFormat | undefined {
  const mediaType = servedType(type, types);
  if (mediaType === undefined) return undefined;
  const as = params.get('as');
  const pretty = params.get('pretty') === '1';
  const [version = '', group = '', stream = ''] = ['v', 'g', 'stream'].map((name) => params.get(name));
  if (stream !== '' && stream !== 'watch') return undefined;
  if (as === undefined) {
    const isServed = !params.has('v') && !params.has('g') && !(custom && mediaType === PROTOBUF_TYPE);
    return isServed ? { mediaType, pretty } : undefined;
  }
  if (
    !transforms ||
    (as === 'Table' && !tables) ||
    !TRANSFORMS.includes(as) ||
    !TRANSFORM_VERSIONS.includes(version) ||
    group !== 'meta.k8s.io'
  )
    return undefined;
  return { mediaType, pretty, as: as as NonNullable<NegotiatedFormat['as']>, asVersion: `${group}/${version}` };
}

const AGGREGATED: ReadonlyMap<string, string> = new Map([
  ['g', 'apidiscovery.k8s.io'],
  ['v', 'v2'],
  ['as', 'APIGroupDiscoveryList'],
]);

/** The preferred aggregated discovery type; undefined for one document per version. */
export function negotiateAggregated(accept: string | undefined): string | undefined {
  if (!accept?.includes('apidiscovery.k8s.io')) return undefined;
  for (const { type, params } of parseAccept(accept)) {
    const mediaType = type === '*/*' ? JSON_TYPE : OBJECT_TYPES.find((candidate) => candidate === type);
    if (mediaType === undefined) continue;
    const present = [...AGGREGATED.keys()].filter((name) => params.has(name));
    if (present.length === 0) return undefined;
    if ([...AGGREGATED].every(([name, value]) => params.get(name) === value)) return mediaType;
  }
  return undefined;
}

/** The content type of such a document. */
export function aggregatedType(mediaType: string): string {
  return [mediaType, ...[...AGGREGATED].map(([name, value]) => `${name}=${value}`)].join(';');
}

/** The clauses of an Accept header, by quality. */
export function parseAccept(accept: string): readonly Clause[] {
  const clauses = accept.split(',').flatMap((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    if (type === '') return [];
    const params = new Map(rest.map((param) => param.split('=', 2).map((side) => side.trim()) as [string, string]));
    return [{ type: type.toLowerCase(), params, quality: Number(params.get('q') ?? 1) }];
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}
