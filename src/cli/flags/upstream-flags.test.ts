import { Command } from 'commander';
import { expect, test } from 'vitest';
import { configureApiserver } from '../commands/apiserver.ts';
import { configureControllerManager } from '../commands/controller-manager.ts';
import { configureProxy } from '../commands/proxy.ts';
import { configureScheduler } from '../commands/scheduler.ts';
import type { CliContext } from '../context.ts';

const APISERVER = `
  admission-control admission-control-config-file advertise-address aggregator-reject-forwarding-redirect allow-metric-labels
  allow-metric-labels-manifest allow-privileged anonymous-auth api-audiences apiserver-count audit-log-batch-buffer-size
  audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst audit-log-batch-throttle-enable
  audit-log-batch-throttle-qps audit-log-compress audit-log-format audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode
  audit-log-path audit-log-truncate-enabled audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-log-version
  audit-policy-file audit-webhook-batch-buffer-size audit-webhook-batch-initial-backoff audit-webhook-batch-max-size
  audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps
  audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-enabled
  audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size audit-webhook-version authentication-config
  authentication-token-webhook-cache-ttl authentication-token-webhook-config-file authentication-token-webhook-version
  authorization-config authorization-mode authorization-policy-file authorization-webhook-cache-authorized-ttl
  authorization-webhook-cache-unauthorized-ttl authorization-webhook-config-file authorization-webhook-version bind-address cert-dir
  client-ca-file contention-profiling coordinated-leadership-lease-duration coordinated-leadership-renew-deadline
  coordinated-leadership-retry-period cors-allowed-origins debug-socket-path default-watch-cache-size delete-collection-workers
  disable-admission-plugins disable-http2-serving disabled-metrics egress-selector-config-file emulated-version
  emulation-forward-compatible enable-admission-plugins enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector
  enable-logs-handler enable-priority-and-fairness encryption-provider-config encryption-provider-config-automatic-reload
  endpoint-reconciler-type etcd-cafile etcd-certfile etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval
  etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-readycheck-timeout etcd-servers etcd-servers-overrides event-ttl
  external-hostname feature-gates goaway-chance http2-max-streams-per-connection kubelet-certificate-authority kubelet-client-certificate
  kubelet-client-key kubelet-port kubelet-preferred-address-types kubelet-read-only-port kubelet-timeout kubernetes-service-node-port
  lease-reuse-duration-seconds livez-grace-period log-flush-frequency log-json-info-buffer-size log-json-split-stream
  log-text-info-buffer-size log-text-split-stream logging-format max-connection-bytes-per-sec max-mutating-requests-inflight
  max-requests-inflight min-compatibility-version min-request-timeout oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix
  oidc-issuer-url oidc-required-claim oidc-signing-algs oidc-username-claim oidc-username-prefix peer-advertise-ip peer-advertise-port
  peer-ca-file permit-address-sharing permit-port-sharing profiling proxy-client-cert-file proxy-client-key-file request-timeout
  requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers
  requestheader-uid-headers requestheader-username-headers runtime-config runtime-config-emulation-forward-compatible secure-port
  service-account-extend-token-expiration service-account-issuer service-account-jwks-uri service-account-key-file service-account-lookup
  service-account-max-token-expiration service-account-signing-endpoint service-account-signing-key-file service-cluster-ip-range
  service-node-port-range show-hidden-metrics-for-version shutdown-delay-duration shutdown-send-retry-after
  shutdown-watch-termination-grace-period storage-backend storage-initialization-timeout storage-media-type
  strict-transport-security-directives tls-cert-file tls-cipher-suites tls-curve-preferences tls-min-version tls-private-key-file
  tls-sni-cert-key token-auth-file tracing-config-file v vmodule watch-cache watch-cache-sizes
`;

const CONTROLLER_MANAGER = `
  allocate-node-cidrs allow-metric-labels allow-metric-labels-manifest allow-untagged-cloud attach-detach-reconcile-sync-period
  authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure
  authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl
  authorization-webhook-cache-unauthorized-ttl bind-address cert-dir cidr-allocator-type client-ca-file cloud-config cloud-provider
  cluster-cidr cluster-name cluster-signing-cert-file cluster-signing-duration cluster-signing-key-file
  cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file cluster-signing-kubelet-client-cert-file
  cluster-signing-kubelet-client-key-file cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file
  cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file concurrent-cron-job-syncs concurrent-daemonset-syncs
  concurrent-deployment-syncs concurrent-device-taint-eviction-syncs concurrent-endpoint-syncs concurrent-ephemeralvolume-syncs
  concurrent-gc-syncs concurrent-horizontal-pod-autoscaler-syncs concurrent-job-syncs concurrent-namespace-syncs
  concurrent-replicaset-syncs concurrent-resource-quota-syncs concurrent-resourceclaim-syncs concurrent-service-endpoint-syncs
  concurrent-service-syncs concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs concurrent-ttl-after-finished-syncs
  concurrent-validating-admission-policy-status-syncs concurrent_rc_syncs configure-cloud-routes contention-profiling
  controller-shutdown-timeout controller-start-interval controllers disable-attach-detach-reconcile-sync disable-force-detach-on-timeout
  disable-http2-serving disabled-metrics emulated-version enable-dynamic-provisioning enable-garbage-collector
  enable-hostpath-provisioner enable-leader-migration endpoint-updates-batch-period endpointslice-updates-batch-period
  external-cloud-volume-plugin feature-gates flex-volume-plugin-dir horizontal-pod-autoscaler-cpu-initialization-period
  horizontal-pod-autoscaler-downscale-stabilization horizontal-pod-autoscaler-initial-readiness-delay
  horizontal-pod-autoscaler-sync-period horizontal-pod-autoscaler-tolerance http2-max-streams-per-connection kube-api-burst
  kube-api-content-type kube-api-qps kubeconfig large-cluster-size-threshold leader-elect leader-elect-lease-duration
  leader-elect-renew-deadline leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace
  leader-elect-retry-period leader-migration-config legacy-service-account-token-clean-up-period log-flush-frequency
  log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format master
  max-endpoints-per-slice min-compatibility-version min-resync-period mirroring-concurrent-service-endpoint-syncs
  mirroring-endpointslice-updates-batch-period mirroring-max-endpoints-per-subset namespace-sync-period node-cidr-mask-size
  node-cidr-mask-size-ipv4 node-cidr-mask-size-ipv6 node-eviction-rate node-monitor-grace-period node-monitor-period
  node-startup-grace-period node-sync-period permit-address-sharing permit-port-sharing profiling pv-recycler-increment-timeout-nfs
  pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath
  pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period requestheader-allowed-names
  requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers
  requestheader-username-headers resource-quota-sync-period root-ca-file route-reconciliation-period secondary-node-eviction-rate
  secure-port service-account-private-key-file service-cluster-ip-range show-hidden-metrics-for-version terminated-pod-gc-threshold
  tls-cert-file tls-cipher-suites tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key unhealthy-zone-threshold
  use-service-account-credentials v vmodule
`;

const SCHEDULER = `
  allow-metric-labels allow-metric-labels-manifest authentication-kubeconfig authentication-skip-lookup
  authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure authorization-always-allow-paths authorization-kubeconfig
  authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl bind-address cert-dir client-ca-file config
  contention-profiling disable-http2-serving disabled-metrics emulated-version feature-gates http2-max-streams-per-connection
  kube-api-burst kube-api-content-type kube-api-qps kubeconfig leader-elect leader-elect-lease-duration leader-elect-renew-deadline
  leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period log-flush-frequency
  log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format master
  min-compatibility-version permit-address-sharing permit-port-sharing pod-max-in-unschedulable-pods-duration profiling
  requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers
  requestheader-uid-headers requestheader-username-headers secure-port show-hidden-metrics-for-version tls-cert-file tls-cipher-suites
  tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key v vmodule write-config-to
`;

const PROXY = `
  bind-address bind-address-hard-fail cleanup cluster-cidr config config-sync-period conntrack-max-per-core conntrack-min
  conntrack-tcp-be-liberal conntrack-tcp-timeout-close-wait conntrack-tcp-timeout-established conntrack-udp-timeout
  conntrack-udp-timeout-stream detect-local-mode feature-gates healthz-bind-address healthz-port hostname-override init-only
  iptables-localhost-nodeports iptables-masquerade-bit iptables-min-sync-period iptables-sync-period ipvs-exclude-cidrs
  ipvs-min-sync-period ipvs-scheduler ipvs-strict-arp ipvs-sync-period ipvs-tcp-timeout ipvs-tcpfin-timeout ipvs-udp-timeout
  kube-api-burst kube-api-content-type kube-api-qps kubeconfig log-flush-frequency log-json-info-buffer-size log-json-split-stream
  log-text-info-buffer-size log-text-split-stream logging-format masquerade-all master metrics-bind-address metrics-port
  nodeport-addresses oom-score-adj pod-bridge-interface pod-interface-name-prefix profiling proxy-mode
  show-hidden-metrics-for-version v vmodule write-config-to
`;

const context = {} as CliContext;

function commandOf(configure: (command: Command, context: CliContext) => void): Command {
  const command = new Command();
  configure(command, context);
  return command;
}

test.each([
  ['kube-apiserver', configureApiserver, APISERVER],
  ['kube-controller-manager', configureControllerManager, CONTROLLER_MANAGER],
  ['kube-scheduler', configureScheduler, SCHEDULER],
  ['kube-proxy', configureProxy, PROXY],
] as const)('every flag of %s v1.36 is there', (_, configure, names) => {
  const there = new Set(commandOf(configure).options.map(({ long }) => long));
  const missing = names
    .trim()
    .split(/\s+/)
    .filter((name) => !there.has(`--${name}`));
  expect(missing).toEqual([]);
});

/** The command lines of kubeadm's static pods. */
const STATIC_PODS = [
  [
    configureApiserver,
    '--advertise-address=192.0.2.1 --allow-privileged=true --authorization-mode=Node,RBAC --client-ca-file=/pki/ca.crt --enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true --etcd-cafile=/pki/etcd/ca.crt --etcd-certfile=/pki/apiserver-etcd-client.crt --etcd-keyfile=/pki/apiserver-etcd-client.key --etcd-servers=https://127.0.0.1:2379 --kubelet-client-certificate=/pki/apiserver-kubelet-client.crt --kubelet-client-key=/pki/apiserver-kubelet-client.key --kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname --proxy-client-cert-file=/pki/front-proxy-client.crt --proxy-client-key-file=/pki/front-proxy-client.key --requestheader-allowed-names=front-proxy-client --requestheader-client-ca-file=/pki/front-proxy-ca.crt --requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group --requestheader-username-headers=X-Remote-User --runtime-config= --secure-port=6443 --service-account-issuer=https://kubernetes.default.svc.cluster.local --service-account-key-file=/pki/sa.pub --service-account-signing-key-file=/pki/sa.key --service-cluster-ip-range=10.96.0.0/12 --tls-cert-file=/pki/apiserver.crt --tls-private-key-file=/pki/apiserver.key --feature-gates=A=true --v=2',
  ],
  [
    configureControllerManager,
    '--allocate-node-cidrs=true --authentication-kubeconfig=/controller-manager.conf --authorization-kubeconfig=/controller-manager.conf --bind-address=127.0.0.1 --client-ca-file=/pki/ca.crt --cluster-cidr=10.244.0.0/16 --cluster-name=kubernetes --cluster-signing-cert-file=/pki/ca.crt --cluster-signing-key-file=/pki/ca.key --controllers=*,bootstrapsigner,tokencleaner --kubeconfig=/controller-manager.conf --leader-elect=true --requestheader-client-ca-file=/pki/front-proxy-ca.crt --root-ca-file=/pki/ca.crt --service-account-private-key-file=/pki/sa.key --service-cluster-ip-range=10.96.0.0/12 --use-service-account-credentials=true',
  ],
  [
    configureScheduler,
    '--authentication-kubeconfig=/scheduler.conf --authorization-kubeconfig=/scheduler.conf --bind-address=127.0.0.1 --kubeconfig=/scheduler.conf --leader-elect=true',
  ],
] as const;

test.each(STATIC_PODS)("kubeadm's command line is understood: %#", (configure, line) => {
  const command = commandOf(configure)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.action(() => {});
  expect(() => command.parse(line.split(' '), { from: 'user' })).not.toThrow();
});

test.each([
  ['--leader-elect', true],
  ['--leader-elect=false', 'false'],
  ['--profiling', true],
  ['--profiling=false', 'false'],
])('a boolean flag may stand alone: %s', (word, value) => {
  const command = commandOf(configureScheduler).action(() => {});
  command.parse([word], { from: 'user' });
  expect(Object.values(command.opts())).toContain(value);
});
