import { StatusError } from '#machinery';
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

const OBJECT_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
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

/** Chooses for a watch, which is no document but a stream of them: YAML has none. */
export function negotiateWatch(accept: string | undefined, options: NegotiationOptions = {}): Negotiated {
  const negotiated = negotiate(accept, options);
  if (negotiated.mediaType !== YAML_TYPE) return negotiated;
  throw StatusError.notAcceptable([JSON_TYPE, PROTOBUF_TYPE].map((type) => `${type};stream=watch`));
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
