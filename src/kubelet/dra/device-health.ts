import type { Clock, TimerHandle } from '#base';
import type { HealthReport } from './messages.ts';

/** As the API names it. */
export type Health = 'Healthy' | 'Unhealthy' | 'Unknown';

export interface DeviceReference {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

interface HealthRecord {
  readonly health: Health;
  readonly message: string;
  /** By the monotonic clock. After that nothing is known of the device. */
  readonly untilMs: number;
}

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_MESSAGE = 1024;
const HEALTH: Readonly<Record<HealthReport['health'], Health>> = { UNKNOWN: 'Unknown', HEALTHY: 'Healthy', UNHEALTHY: 'Unhealthy' };

/** What drivers last said of the health of their devices. */
export class DeviceHealth implements Disposable {
  /** By driver, then by pool and device. */
  readonly #drivers = new Map<string, ReadonlyMap<string, HealthRecord>>();
  readonly #timers = new Map<string, TimerHandle>();

  constructor(
    private readonly clock: Clock,
    /** The health of a driver's devices may have changed. */
    private readonly onChange: (driver: string) => void,
  ) {}

  of({ driver, pool, device }: DeviceReference): { readonly health: Health; readonly message: string } {
    const record = this.#drivers.get(driver)?.get(keyOf(pool, device));
    if (record === undefined || record.untilMs <= this.clock.monotonic()) return { health: 'Unknown', message: '' };
    return record;
  }

  /** All devices of the driver. */
  update(driver: string, reports: readonly HealthReport[]): void {
    const now = this.clock.monotonic();
    const devices = reports.map(({ device, health, message, healthCheckTimeoutSeconds: seconds }) => {
      const untilMs = now + (seconds > 0 ? seconds : DEFAULT_TIMEOUT_SECONDS) * 1000;
      return [keyOf(device.poolName, device.deviceName), { health: HEALTH[health], message: shortened(message), untilMs }] as const;
    });
    this.#drivers.set(driver, new Map(devices));
    this.#watchTimeouts(driver);
    this.onChange(driver);
  }

  /** The health of the driver's devices is no longer reported. */
  forget(driver: string): void {
    this.#timers.get(driver)?.cancel();
    this.#timers.delete(driver);
    if (this.#drivers.delete(driver)) this.onChange(driver);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) timer.cancel();
  }

  #watchTimeouts(driver: string): void {
    const now = this.clock.monotonic();
    this.#timers.get(driver)?.cancel();
    this.#timers.delete(driver);
    const due = [...(this.#drivers.get(driver)?.values() ?? [])].map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > now);
    if (due.length === 0) return;
    const first = due.reduce((least, untilMs) => Math.min(least, untilMs));
    const onTimeout = () => {
      this.#watchTimeouts(driver);
      this.onChange(driver);
    };
    this.#timers.set(driver, this.clock.setTimer(first - now, onTimeout));
  }
}

function keyOf(pool: string, device: string): string {
  return `${pool}/${device}`;
}

function shortened(text: string): string {
  return text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE - 3)}...`;
}
