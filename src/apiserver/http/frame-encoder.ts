import { WatchFrameEncoding } from '#machinery';
import { columnsOf, META_V1, partialMetadata, rowOf } from '../printing/table.ts';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import { encodeWatchEvent } from '../request/media.ts';
import { JSON_TYPE, PROTOBUF_TYPE } from '../request/parse-body.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { EventType, WatchFrame } from '../watch-cache/watcher.ts';
import { type RenderContext, tableOptions } from './render.ts';

/** How frames are laid out in one media type. `write` is called once for each `lengthOf`, in the same order. */
interface FrameLayout {
  lengthOf(frame: WatchFrame): number;
  /** Returns the end offset of the frame. */
  write(frame: WatchFrame, target: Buffer, at: number): number;
}

/** Encodes watch events for one media type and version; shared bytes are cached on the event or its object. */
export class FrameEncoder {
  readonly #resource: ServedResource;
  readonly #context: RenderContext;
  /** The cache key of bytes that clients share; undefined when each client has its own. */
  readonly #key: string | undefined;
  readonly #layout: FrameLayout;

  constructor(resource: ServedResource, context: RenderContext) {
    this.#resource = resource;
    this.#context = context;
    const { as, mediaType } = context.negotiated;
    this.#key = as === undefined ? `${resource.apiVersion};${mediaType}` : undefined;
    if (as !== undefined) this.#layout = new WholeFrames(as === 'Table' ? this.#tableRows() : (frame) => this.#partial(frame));
    else if (mediaType === JSON_TYPE) this.#layout = new JsonFrames(resource);
    else if (mediaType === PROTOBUF_TYPE) this.#layout = new ProtobufFrames(resource, context);
    else this.#layout = new WholeFrames(({ type, object }) => this.#plain(type, object.as(resource).object, resource));
  }

  /** Names the encoding; undefined when each client has its own. */
  get sharedKey(): string | undefined {
    return this.#key;
  }

  /** For changes that many clients are likely to receive. */
  encode(frame: WatchFrame): Buffer {
    let bytes = this.#key === undefined ? undefined : frame.encodings.get(this.#key);
    if (bytes === undefined) {
      bytes = this.join([frame], this.#layout.lengthOf(frame));
      if (this.#key !== undefined) frame.encodings.set(this.#key, bytes);
    }
    return bytes;
  }

  /** Called once for each frame, in the order in which they are joined. */
  lengthOf(frame: WatchFrame): number {
    return this.#layout.lengthOf(frame);
  }

  /** Joins frames whose lengths have been measured. */
  join(frames: readonly WatchFrame[], length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const frame of frames) at = this.#layout.write(frame, bytes, at);
    return bytes;
  }

  bookmark(revision: number, initialEventsEnd: boolean): Buffer {
    const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const { kind, apiVersion } = this.#resource;
    const object = { kind, apiVersion, metadata: { resourceVersion: String(revision), ...annotations } };
    const { as, asVersion = META_V1 } = this.#context.negotiated;
    if (as === undefined) return this.#plain('BOOKMARK', object, this.#resource);
    const partial = partialMetadata(object as unknown as KubeObject, this.#resource, asVersion);
    if (as !== 'Table') return this.#plain('BOOKMARK', partial);
    const metadata = { resourceVersion: String(revision) };
    const rows = [{ cells: [], object: partial }];
    return this.#plain('BOOKMARK', { kind: 'Table', apiVersion: asVersion, metadata, columnDefinitions: null, rows });
  }

  error(status: { readonly [field: string]: unknown }): Buffer {
    return this.#plain('ERROR', status);
  }

  #partial({ type, object }: WatchFrame): Buffer {
    return this.#plain(type, partialMetadata(object.as(this.#resource).object, this.#resource, this.#context.negotiated.asVersion));
  }

  /** Column definitions are sent once per stream. */
  #tableRows(): (frame: WatchFrame) => Buffer {
    const options = tableOptions(this.#resource, this.#context);
    const { apiVersion = META_V1 } = options;
    let columnsSent = false;
    return ({ type, object: cached }) => {
      const { object } = cached.as(this.#resource);
      const columnDefinitions = columnsSent ? null : columnsOf(this.#resource);
      columnsSent = true;
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return this.#plain(type, { kind: 'Table', apiVersion, metadata, columnDefinitions, rows: [rowOf(object, options)] });
    };
  }

  #plain(type: string, object: { readonly [field: string]: unknown }, resource?: ServedResource): Buffer {
    return encodeWatchEvent(type, object, this.#context.negotiated, resource?.schema);
  }
}

const JSON_END = Buffer.from('}\n');

/** `{"type":"ADDED","object":{…}}` and a newline, around the object's encoded JSON. */
class JsonFrames implements FrameLayout {
  constructor(private readonly resource: ServedResource) {}

  lengthOf({ type, object }: WatchFrame): number {
    return jsonHead(type).length + object.as(this.resource).jsonLength + JSON_END.length;
  }

  write({ type, object }: WatchFrame, target: Buffer, offset: number): number {
    const { bytes, gap, text } = object.as(this.resource).jsonParts();
    let at = offset + jsonHead(type).copy(target, offset);
    at += bytes.copy(target, at, 0, gap);
    at += target.write(text, at, 'latin1');
    at += bytes.copy(target, at, gap);
    return at + JSON_END.copy(target, at);
  }
}

const JSON_HEADS: Readonly<Record<EventType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
};

function jsonHead(type: EventType): Buffer {
  return JSON_HEADS[type];
}

class ProtobufFrames implements FrameLayout {
  readonly #encodings = new Map<EventType, WatchFrameEncoding>();

  constructor(
    private readonly resource: ServedResource,
    private readonly context: RenderContext,
  ) {}

  lengthOf({ type, object }: WatchFrame): number {
    return this.#encoding(type).sizeOf(this.#message(object.as(this.resource)).length);
  }

  write({ type, object }: WatchFrame, target: Buffer, at: number): number {
    return this.#encoding(type).writeTo(target, at, this.#message(object.as(this.resource)));
  }

  #message(object: VersionedObject): Buffer {
    return this.context.messages.of(object, this.resource.schema);
  }

  #encoding(type: EventType): WatchFrameEncoding {
    let encoding = this.#encodings.get(type);
    if (encoding === undefined) {
      encoding = new WatchFrameEncoding(type, { kind: this.resource.kind, apiVersion: this.resource.apiVersion });
      this.#encodings.set(type, encoding);
    }
    return encoding;
  }
}

/** Frames whose length is known only after encoding. */
class WholeFrames implements FrameLayout {
  readonly #encoded: Buffer[] = [];

  constructor(private readonly encode: (frame: WatchFrame) => Buffer) {}

  lengthOf(frame: WatchFrame): number {
    const bytes = this.encode(frame);
    this.#encoded.push(bytes);
    return bytes.length;
  }

  write(_frame: WatchFrame, target: Buffer, at: number): number {
    return at + this.#encoded.shift()!.copy(target, at);
  }
}
