const SIGNALS =
  'SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF' +
  '|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3' +
  '|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11' +
  '|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7' +
  '|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2' +
  '|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ';

const KEY_USAGES =
  'any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature' +
  '|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc' +
  '|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping';

/**
 * The values of string types whose set upstream publishes in its OpenAPI documents, by the version and Go name of the type. Types of the same
 * name in other versions have no published set.
 */
const ENUMS: readonly (readonly [type: string, versions: string, values: string])[] = [
  ['AddressType', 'v1', 'FQDN|IPv4|IPv6'],
  ['AllocationConfigSource', 'v1 v1beta1 v1beta2', 'FromClaim|FromClass'],
  ['AppArmorProfileType', 'v1', 'Localhost|RuntimeDefault|Unconfined'],
  ['AzureDataDiskCachingMode', 'v1', 'None|ReadOnly|ReadWrite'],
  ['AzureDataDiskKind', 'v1', 'Dedicated|Managed|Shared'],
  [
    'ClaimResourceStatus',
    'v1',
    'ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|NodeResizeInfeasible|NodeResizePending',
  ],
  ['CompletionMode', 'v1', 'Indexed|NonIndexed'],
  ['ConcurrencyPolicy', 'v1', 'Allow|Forbid|Replace'],
  ['DNSPolicy', 'v1', 'ClusterFirst|ClusterFirstWithHostNet|Default|None'],
  ['DaemonSetUpdateStrategyType', 'v1', 'OnDelete|RollingUpdate'],
  ['DeploymentStrategyType', 'v1', 'Recreate|RollingUpdate'],
  ['DeviceAllocationMode', 'v1 v1beta1 v1beta2', 'All|ExactCount'],
  ['DeviceTaintEffect', 'v1 v1alpha3 v1beta1 v1beta2', 'NoExecute|NoSchedule|None'],
  ['DeviceTolerationOperator', 'v1 v1beta1 v1beta2', 'Equal|Exists'],
  ['DisruptionMode', 'v1alpha2', 'Pod|PodGroup'],
  ['FailurePolicyType', 'v1 v1alpha1', 'Fail|Ignore'],
  ['FieldValueErrorReason', 'v1', 'FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired'],
  ['HostPathType', 'v1', '|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket'],
  ['IPFamily', 'v1', '|IPv4|IPv6'],
  ['IPFamilyPolicy', 'v1', 'PreferDualStack|RequireDualStack|SingleStack'],
  ['KeyUsage', 'v1', KEY_USAGES],
  ['MatchPolicyType', 'v1 v1alpha1', 'Equivalent|Exact'],
  ['MountPropagationMode', 'v1', 'Bidirectional|HostToContainer|None'],
  ['NamespacePhase', 'v1', 'Active|Terminating'],
  ['NodeInclusionPolicy', 'v1', 'Honor|Ignore'],
  ['NodePhase', 'v1', 'Pending|Running|Terminated'],
  ['NodeSelectorOperator', 'v1', 'DoesNotExist|Exists|Gt|In|Lt|NotIn'],
  ['OperationType', 'v1 v1alpha1 v1beta1', '*|CONNECT|CREATE|DELETE|UPDATE'],
  ['ParameterNotFoundActionType', 'v1alpha1', 'Allow|Deny'],
  ['PatchType', 'v1 v1alpha1 v1beta1', 'ApplyConfiguration|JSONPatch'],
  ['PathType', 'v1', 'Exact|ImplementationSpecific|Prefix'],
  ['PersistentVolumeAccessMode', 'v1', 'ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod'],
  ['PersistentVolumeClaimModifyVolumeStatus', 'v1', 'InProgress|Infeasible|Pending'],
  ['PersistentVolumeClaimPhase', 'v1', 'Bound|Lost|Pending'],
  ['PersistentVolumeMode', 'v1', 'Block|Filesystem'],
  ['PersistentVolumePhase', 'v1', 'Available|Bound|Failed|Pending|Released'],
  ['PersistentVolumeReclaimPolicy', 'v1', 'Delete|Recycle|Retain'],
  ['PodFSGroupChangePolicy', 'v1', 'Always|OnRootMismatch'],
  ['PodFailurePolicyAction', 'v1', 'Count|FailIndex|FailJob|Ignore'],
  ['PodFailurePolicyOnExitCodesOperator', 'v1', 'In|NotIn'],
  ['PodManagementPolicyType', 'v1', 'OrderedReady|Parallel'],
  ['PodPhase', 'v1', 'Failed|Pending|Running|Succeeded|Unknown'],
  ['PodQOSClass', 'v1', 'BestEffort|Burstable|Guaranteed'],
  ['PodReplacementPolicy', 'v1', 'Failed|TerminatingOrFailed'],
  ['PolicyType', 'v1', 'Egress|Ingress'],
  ['PreemptionPolicy', 'v1', 'Never|PreemptLowerPriority'],
  ['ProcMountType', 'v1', 'Default|Unmasked'],
  ['Protocol', 'v1', 'SCTP|TCP|UDP'],
  ['PullPolicy', 'v1', 'Always|IfNotPresent|Never'],
  ['ReinvocationPolicyType', 'v1 v1alpha1 v1beta1', 'IfNeeded|Never'],
  [
    'ResourceQuotaScope',
    'v1',
    'BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass',
  ],
  ['RestartPolicy', 'v1', 'Always|Never|OnFailure'],
  ['ScopeSelectorOperator', 'v1', 'DoesNotExist|Exists|In|NotIn'],
  ['ScopeType', 'v1 v1alpha1 v1beta1', '*|Cluster|Namespaced'],
  ['SeccompProfileType', 'v1', 'Localhost|RuntimeDefault|Unconfined'],
  ['ServiceAffinity', 'v1', 'ClientIP|None'],
  ['ServiceExternalTrafficPolicy', 'v1', 'Cluster|Local'],
  ['ServiceInternalTrafficPolicy', 'v1', 'Cluster|Local'],
  ['ServiceType', 'v1', 'ClusterIP|ExternalName|LoadBalancer|NodePort'],
  ['SideEffectClass', 'v1', 'None|NoneOnDryRun|Some|Unknown'],
  ['Signal', 'v1', SIGNALS],
  ['StatefulSetUpdateStrategyType', 'v1', 'OnDelete|RollingUpdate'],
  ['SupplementalGroupsPolicy', 'v1', 'Merge|Strict'],
  ['TaintEffect', 'v1', 'NoExecute|NoSchedule|PreferNoSchedule'],
  ['TerminationMessagePolicy', 'v1', 'FallbackToLogsOnError|File'],
  ['TolerationOperator', 'v1', 'Equal|Exists|Gt|Lt'],
  ['URIScheme', 'v1', 'HTTP|HTTPS'],
  ['UnhealthyPodEvictionPolicyType', 'v1', 'AlwaysAllow|IfHealthyBudget'],
  ['UnsatisfiableConstraintAction', 'v1', 'DoNotSchedule|ScheduleAnyway'],
  ['ValidationAction', 'v1', 'Audit|Deny|Warn'],
  ['VolumeBindingMode', 'v1', 'Immediate|WaitForFirstConsumer'],
];

const VALUES: ReadonlyMap<string, readonly string[]> = new Map(
  ENUMS.flatMap(([type, versions, values]) => versions.split(' ').map((version) => [`${version}.${type}`, values.split('|')] as const)),
);

/** The values of a type by its Go name, also of a map to it. */
export function openapiEnum(goName: string): readonly string[] | undefined {
  return VALUES.get(goName.slice(goName.lastIndexOf(']') + 1));
}
