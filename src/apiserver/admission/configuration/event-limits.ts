import { FieldError, type Fields, fieldsOfKind, type JsonValue, Path, StrictConfigurationReader } from '#machinery';
import { EVENT_LIMIT_TYPES, type EventLimit } from '../plugins/event-rate-limit.ts';

const VERSIONS = ['eventratelimit.admission.k8s.io/v1alpha1'];
const ANY = { fallback: 0, min: -(2 ** 31) };

/** Throws with upstream's messages. */
export function readEventLimits(value: JsonValue | undefined): readonly EventLimit[] {
  const reader = new EventLimitReader();
  const limits = reader.limits(value === undefined ? {} : fieldsOfKind(value, 'Configuration', VERSIONS));
  reader.throwIfInvalid();
  return limits;
}

class EventLimitReader extends StrictConfigurationReader {
  limits(fields: Fields): readonly EventLimit[] {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'limits'], '');
    const limits = this.list(fields.limits, 'limits').map((limit, i) => this.#limit(limit, i));
    if (limits.length === 0) this.errors.push(FieldError.invalid(Path.of('limits'), [], 'must not be empty'));
    return limits;
  }

  #limit(value: unknown, i: number): EventLimit {
    const at = `limits[${i}]`;
    const fields = this.object(value, at);
    this.rejectUnknownFields(fields, ['type', 'qps', 'burst', 'cacheSize'], at);
    const limit = {
      type: this.text(fields.type, `${at}.type`, '') as EventLimit['type'],
      qps: this.number(fields.qps, `${at}.qps`, ANY),
      burst: this.number(fields.burst, `${at}.burst`, ANY),
      cacheSize: this.number(fields.cacheSize, `${at}.cacheSize`, ANY),
    };
    this.#validate(limit, Path.of('limits').index(i));
    return limit;
  }

  #validate({ type, qps, burst, cacheSize }: EventLimit, at: Path): void {
    if (!EVENT_LIMIT_TYPES.includes(type)) this.errors.push(FieldError.notSupported(at.child('type'), type, [...EVENT_LIMIT_TYPES]));
    if (burst <= 0) this.errors.push(FieldError.invalid(at.child('burst'), burst, 'must be positive'));
    if (qps <= 0) this.errors.push(FieldError.invalid(at.child('qps'), qps, 'must be positive'));
    if (type !== 'Server' && cacheSize < 0) {
      this.errors.push(FieldError.invalid(at.child('cacheSize'), cacheSize, 'must not be negative'));
    }
  }
}
