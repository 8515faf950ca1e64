import {
  type AliasEvent,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';
import { type DocumentPath, MAX_DUPLICATES } from '../json/exact-json-parser.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { goQuote, goValue } from '../values/go-format.ts';
import { YamlError } from './yaml-error.ts';
import { resolveScalar, tagName, type YamlScalar } from './yaml-scalar.ts';

export interface YamlDocument {
  readonly value: JsonValue;
  /** Keys that stand more than once in their mapping; the last one counts. */
  readonly duplicates: readonly DocumentPath[];
  /** The same, as strict decoding reports them: `line 3: key "a" already set in map`. */
  readonly problems: readonly string[];
}

/** A value on its way into its container. */
interface ComposedValue {
  readonly value: JsonValue;
  /** Values in it, those that aliases repeat included. */
  readonly weight: number;
  readonly position: number;
  readonly isMerge: boolean;
}

interface Frame {
  readonly container: MutableJsonObject | JsonValue[] | undefined;
  readonly anchor: string | undefined;
  readonly position: number;
  key: string | undefined;
  /** The printed form of a repeated key. */
  printedKey: string;
  isMerge: boolean;
  weight: number;
  root: JsonValue;
}

interface Anchor {
  readonly composed: ComposedValue | undefined;
}

const EVENTS_A_STEP = 10_000;

/**
 * Builds JSON values from parser events: keys become strings, scalars follow YAML 1.1, merge keys are applied. Aliases share their value, but are
 * counted as if they repeated it, so that a small text cannot expand without bound.
 */
export class YamlComposer {
  private readonly documents: YamlDocument[] = [];
  private frames: Frame[] = [];
  private anchors = new Map<string, Anchor>();
  private duplicates = new Map<string, DocumentPath>();
  private problems: string[] = [];
  private decoded = 0;
  private aliased = 0;
  /** Lines that end before `end`, and the number of the one that begins there. */
  private counted = { end: 0, line: 1 };

  constructor(private readonly source: string) {}

  *compose(events: readonly Event[]): Generator<void, YamlDocument[]> {
    for (let i = 0; i < events.length; i++) {
      if (i % EVENTS_A_STEP === EVENTS_A_STEP - 1) yield;
      this.accept(events[i]!);
    }
    return this.documents;
  }

  private accept(event: Event): void {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        this.open(undefined, undefined, 0);
        break;
      case EVENT_ID.SEQUENCE:
        this.openCollection(event, []);
        break;
      case EVENT_ID.MAPPING:
        this.openCollection(event, {});
        break;
      case EVENT_ID.SCALAR:
        this.scalar(event);
        break;
      case EVENT_ID.ALIAS:
        this.alias(event);
        break;
      case EVENT_ID.POP:
        this.close();
        break;
    }
  }

  private open(container: Frame['container'], anchor: string | undefined, position: number): void {
    this.frames.push({ container, anchor, position, key: undefined, printedKey: '', isMerge: false, weight: 1, root: null });
  }

  private openCollection(event: SequenceEvent | MappingEvent, container: MutableJsonObject | JsonValue[]): void {
    const anchor = this.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) this.anchors.set(anchor, { composed: undefined });
    this.open(container, anchor, event.start);
  }

  private close(): void {
    const frame = this.frames.pop();
    if (frame === undefined) return;
    if (frame.container === undefined) {
      this.finishDocument(frame);
      return;
    }
    const composed = { value: frame.container, weight: frame.weight, position: frame.position, isMerge: false };
    if (frame.anchor !== undefined) this.anchors.set(frame.anchor, { composed });
    this.count(1, 0);
    this.add(composed);
  }

  private finishDocument({ root }: Frame): void {
    this.documents.push({ value: root, duplicates: [...this.duplicates.values()], problems: this.problems });
    this.frames = [];
    this.anchors = new Map();
    this.duplicates = new Map();
    this.problems = [];
  }

  private scalar(event: ScalarEvent): void {
    const text = getScalarValue(this.source, event);
    const tag = tagName(this.slice(event.tagStart, event.tagEnd) ?? '');
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const value = resolveScalar(text, tag, isPlain);
    const composed = { value, weight: 1, position: event.valueStart, isMerge: isPlain && text === '<<' };
    const anchor = this.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) this.anchors.set(anchor, { composed });
    this.count(1, 0);
    this.add(composed);
  }

  private alias({ anchorStart, anchorEnd }: AliasEvent): void {
    const name = this.slice(anchorStart, anchorEnd) ?? '';
    const anchor = this.anchors.get(name);
    if (anchor === undefined) throw new YamlError(`unknown anchor '${name}' referenced`);
    if (anchor.composed === undefined) throw new YamlError(`anchor '${name}' value contains itself`);
    this.count(anchor.composed.weight + 1, anchor.composed.weight);
    this.add({ ...anchor.composed, position: anchorStart, isMerge: false });
  }

  /** The allowed fraction of aliases falls with the size of the document. The numbers are upstream's. */
  private count(decoded: number, aliased: number): void {
    this.decoded += decoded;
    this.aliased += aliased;
    if (this.aliased <= 100 || this.decoded <= 1000) return;
    if (this.aliased / this.decoded > allowedAliasRatio(this.decoded)) throw new YamlError('document contains excessive aliasing');
  }

  private add(composed: ComposedValue): void {
    const frame = this.frames.at(-1);
    if (frame === undefined) return;
    frame.weight += composed.weight;
    if (frame.container === undefined) frame.root = checked(composed.value);
    else if (Array.isArray(frame.container)) frame.container.push(checked(composed.value));
    else if (frame.key === undefined) setFrameKey(frame, composed);
    else this.addMember(frame, frame.container, composed);
  }

  private addMember(frame: Frame, container: MutableJsonObject, { value, position }: ComposedValue): void {
    if (frame.isMerge) {
      this.merge(container, value);
    } else {
      const key = frame.key ?? '';
      if (Object.hasOwn(container, key)) this.addDuplicate(frame, position);
      setKey(container, key, checked(value));
    }
    frame.key = undefined;
  }

  private addDuplicate(frame: Frame, position: number): void {
    this.problems.push(`line ${this.lineAt(position)}: key ${frame.printedKey} already set in map`);
    if (this.duplicates.size >= MAX_DUPLICATES) return;
    const path = this.frames
      .filter(({ container }) => container !== undefined)
      .map(({ container, key }) => (Array.isArray(container) ? container.length : (key ?? '')));
    this.duplicates.set(JSON.stringify(path), path);
  }

  /** Continues from the last position: positions are ascending, and counting from the start would be quadratic. */
  private lineAt(position: number): number {
    if (position < this.counted.end) this.counted = { end: 0, line: 1 };
    let { end, line } = this.counted;
    for (let i = this.source.indexOf('\n', end); i >= 0 && i < position; i = this.source.indexOf('\n', end)) {
      end = i + 1;
      line++;
    }
    this.counted = { end, line };
    return line;
  }

  /** Merged members are inserted at the merge key: later keys override them, and the first of several sources wins. */
  private merge(target: MutableJsonObject, source: JsonValue): void {
    const sources = isJsonArray(source) ? source.toReversed() : [source];
    if (!sources.every(isJsonObject)) throw new YamlError('map merge requires map or sequence of maps as the value');
    for (const members of sources as JsonObject[]) {
      const keys = Object.keys(members);
      this.count(keys.length, keys.length);
      for (const key of keys) setKey(target, key, members[key] ?? null);
    }
  }

  private slice(start: number, end: number): string | undefined {
    return start < 0 ? undefined : this.source.slice(start, end);
  }
}

function setFrameKey(frame: Frame, { value, isMerge }: ComposedValue): void {
  if (typeof value === 'object') {
    throw new YamlError(value === null ? 'unsupported map key of type: %!s(<nil>), key: <nil>' : `invalid map key: ${goValue(value)}`);
  }
  frame.key = keyText(value);
  frame.printedKey = typeof value === 'string' ? goQuote(value) : frame.key;
  frame.isMerge = isMerge;
}

function keyText(value: Exclude<YamlScalar, null>): string {
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return '.nan';
  return value > 0 ? '.inf' : '-.inf';
}

function checked(value: JsonValue): JsonValue {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  const text = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  throw new YamlError(`json: unsupported value: ${text}`);
}

const RATIO_FROM = 400_000;
const RATIO_TO = 4_000_000;

function allowedAliasRatio(decoded: number): number {
  if (decoded <= RATIO_FROM) return 0.99;
  if (decoded >= RATIO_TO) return 0.1;
  return 0.99 - (0.89 * (decoded - RATIO_FROM)) / (RATIO_TO - RATIO_FROM);
}
