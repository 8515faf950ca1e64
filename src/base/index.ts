export { childSignal, isAbort, isTimeout, type OwnedSignal, onAbort, raceAbort, timeoutSignal, whenAborted } from './abort.ts';
export { AsyncMutex, AsyncSemaphore } from './async-semaphore.ts';
export { Backoff, type BackoffConfig, backoffDelay } from './backoff.ts';
export { Broadcast, SlowSubscriberError, type SubscribeOptions, type Subscription } from './broadcast.ts';
export { type BuildInfo, buildInfo } from './build-info.ts';
export type { Clock, TimerHandle } from './clock.ts';
export { realClock, sleepOn } from './clock.ts';
export { type Component, type ComponentScope, runComponent, stopAll } from './component.ts';
export { Fifo } from './fifo.ts';
export { type Compare, Heap } from './heap.ts';
export {
  bitsOf,
  formatCidr,
  formatIp,
  type IpAddress,
  type IpNetwork,
  isDualStackPair,
  networkContains,
  parseCidr,
  parseIp,
} from './ip-address.ts';
export { KeyedHeap, type KeyedHeapOptions } from './keyed-heap.ts';
export { LOG_LEVELS, type LogFields, type LogLevel, type LogRecord } from './log-record.ts';
export { createLogger, type Logger, type LoggerOptions, silentLogger } from './logger.ts';
export { Lru, type LruOptions } from './lru.ts';
export {
  type Counter,
  type Family,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  METRICS_CONTENT_TYPE,
  type MetricOptions,
  MetricsRegistry,
} from './metrics.ts';
export { type Random, seededRandom, systemRandom } from './random.ts';
export {
  controllerRateLimiter,
  perKeyBackoff,
  type RateLimiter,
  sharedBucket,
  slowestOf,
  TokenBucket,
  type TokenBucketConfig,
} from './rate-limiter.ts';
export { REDACTED, redactFields, redactText } from './redact.ts';
export { type RepeatOptions, repeat } from './repeat.ts';
export { type RetryOptions, retry } from './retry.ts';
export { type Requeue, type RunWorkersOptions, runWorkers } from './run-workers.ts';
export { type Soon, whenKnown } from './soon.ts';
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.ts';
export { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
export * from './x509/index.ts';
