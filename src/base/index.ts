export { childSignal, isAbort, isTimeout, type OwnedSignal, onAbort, raceAbort, timeoutSignal, waitForAbort } from './async/abort.ts';
export { AsyncMutex, AsyncSemaphore } from './async/async-semaphore.ts';
export { Broadcast, SlowSubscriberError, type SubscribeOptions, type Subscription } from './async/broadcast.ts';
export { BulkGarbage } from './async/bulk-garbage.ts';
export { type DuplexPair, duplexPair } from './async/duplex-pair.ts';
export { KeyedMutex } from './async/keyed-mutex.ts';
export { allMaybePromise, isPromise, type MaybePromise, mapMaybePromise } from './async/maybe-promise.ts';
export { ReceivedPieces } from './async/received-pieces.ts';
export { runInTurns, runSteps, TurnBudget } from './async/turn-budget.ts';
export { hasRoom } from './async/write-room.ts';
export { type BuildInfo, buildInfo } from './build-info.ts';
export { ChunkList } from './chunk-list.ts';
export { type Component, type ComponentScope, runComponent, stopAll } from './component.ts';
export * from './crypto/secretbox/index.ts';
export type { SniCertificate, SniSource } from './crypto/sni-certificates.ts';
export { cipherNames, curveNames, TLS_VERSIONS } from './crypto/tls-names.ts';
export { createTlsPort, type ServingCertificates } from './crypto/tls-port.ts';
export * from './crypto/x509/index.ts';
export * from './egress/index.ts';
export * from './grpc/index.ts';
export { HttpEndpoint, type HttpResponse, type HttpRoutes, parseBindAddress } from './http/http-endpoint.ts';
export { MAX_REQUEST_HEADER_BYTES } from './http/request-limits.ts';
export * from './http2/index.ts';
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
export * from './kernel/index.ts';
export { LOG_LEVELS, type LogFields, type LogLevel, type LogRecord } from './logging/log-record.ts';
export { createLogger, type Logger, type LoggerOptions, silentLogger } from './logging/logger.ts';
export { REDACTED, redactFields, redactText } from './logging/redact.ts';
export { itemNamed, itemsNamed, itemsNotIn, maxOf, mergeAll, minOf, pushAll } from './long-lists.ts';
export { lookupTable } from './lookup-table.ts';
export { assemble, type Instruction, littleEndian } from './machine-code/assemble.ts';
export { ELF_MACHINES, elfProgram } from './machine-code/elf-program.ts';
export { type Activity, EventLoopWatch, type EventLoopWatchOptions } from './metrics/event-loop-watch.ts';
export {
  type Counter,
  type Family,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  METRICS_CONTENT_TYPE,
  type MetricOptions,
  MetricsRegistry,
} from './metrics/metrics.ts';
export { buildInfoMetric, processMetrics } from './metrics/process-metrics.ts';
export { listenOn } from './net/listen-on.ts';
export { isLocalHost } from './net/local-host.ts';
export { isSameProcess, processIdentity } from './process/process-identity.ts';
export { ProgramError, type RunProgramOptions, runProgram } from './process/run-program.ts';
export { Fifo } from './queues/fifo.ts';
export { type Compare, Heap } from './queues/heap.ts';
export { KeyedHeap, type KeyedHeapOptions } from './queues/keyed-heap.ts';
export { Lru, type LruOptions } from './queues/lru.ts';
export { type Requeue, type RunWorkersOptions, runWorkers } from './queues/run-workers.ts';
export { SlotList, type Slotted } from './queues/slot-list.ts';
export { WorkQueue, type WorkQueueOptions } from './queues/work-queue.ts';
export { type Random, seededRandom, systemRandom } from './random.ts';
export * from './spdy/index.ts';
export { Backoff, type BackoffConfig, backoffDelay } from './time/backoff.ts';
export type { Clock, TimerHandle } from './time/clock.ts';
export { realClock, sleepOn } from './time/clock.ts';
export { type KeepAliveOptions, keepAlive } from './time/keep-alive.ts';
export {
  controllerRateLimiter,
  perKeyBackoff,
  type RateLimiter,
  sharedBucket,
  slowestOf,
  TokenBucket,
  type TokenBucketConfig,
} from './time/rate-limiter.ts';
export { type RepeatOptions, repeat } from './time/repeat.ts';
export { type RetryOptions, retry } from './time/retry.ts';
export { VirtualClock, type VirtualClockOptions } from './time/virtual-clock.ts';
export * from './tracing/index.ts';
export * from './websocket/index.ts';
export * from './without-trailing.ts';
