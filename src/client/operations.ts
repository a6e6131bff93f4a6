// Generated from the OpenAPI document by scripts/client-operations.cjs. Do not edit.
import type { Answers, Bodies, Operation, Path, Query } from './schemas'

/** Fields of answers that are ids. */
export const IDS = /^(id|totalAppended|nextBefore|lastSyncId|cursor|syncId)$/
/** Fields of answers that have what users gave. */
export const OPEN = /^(payload|body|attributes|value)$/
/** Where bodies have ids. */
export const SENT_IDS = /^\/(cursor|from|ids\/\d+)$/

export const appendItem = 'POST /v1/groups/{group}/items' as Operation<Answers['Item'], { path: Path<'group'>; body: Bodies['NewItem'] }>
export const recentItems = 'GET /v1/groups/{group}/items' as Operation<Answers['Recent'], { path: Path<'group'>; query: Query<'limit' | 'before' | 'exclude' | 'payloads'> }>
export const clearGroup = 'DELETE /v1/groups/{group}/items' as Operation<Answers['Deleted'], { path: Path<'group'> }>
export const getItem = 'GET /v1/groups/{group}/items/{id}' as Operation<Answers['Item'], { path: Path<'group' | 'id'> }>
export const removeItem = 'DELETE /v1/groups/{group}/items/{id}' as Operation<undefined, { path: Path<'group' | 'id'> }>
export const appendItems = 'POST /v1/items' as Operation<Answers['Appended'], { body: Bodies['Batch'] }>
export const recentItemsOfMany = 'GET /v1/items' as Operation<Answers['RecentMany'], { query: Query<'group' | 'limit' | 'exclude' | 'payloads'> }>
export const listGroups = 'GET /v1/groups' as Operation<Answers['GroupPage'], { query: Query<'prefix' | 'contains' | 'limit' | 'after'> }>
export const getGroup = 'GET /v1/groups/{group}' as Operation<Answers['Group'], { path: Path<'group'> }>
export const putGroup = 'PUT /v1/groups/{group}' as Operation<Answers['Group'], { path: Path<'group'>; body: Bodies['OwnSettings'] }>
export const updateGroup = 'PATCH /v1/groups/{group}' as Operation<Answers['Group'], { path: Path<'group'>; body: Bodies['GroupChanges'] }>
export const deleteGroup = 'DELETE /v1/groups/{group}' as Operation<undefined, { path: Path<'group'> }>
export const groupLosses = 'POST /v1/groups/{group}/losses' as Operation<Answers['Losses'], { path: Path<'group'>; body: Bodies['OwnSettings'] }>
export const streamGroup = 'GET /v1/groups/{group}/stream' as Operation<Answers['GroupEvents'], { path: Path<'group'>; query: Query<'after'> }>
export const changeScore = 'POST /v1/groups/{group}/scores' as Operation<Answers['Item'], { path: Path<'group'>; body: Bodies['ScoreChange'] }>
export const memberItems = 'GET /v1/members/{member}/items' as Operation<Answers['MemberItems'], { path: Path<'member'>; query: Query<'prefix' | 'payloads' | 'limit' | 'before'> }>
export const eraseMember = 'DELETE /v1/members/{member}/items' as Operation<Answers['Deleted'], { path: Path<'member'>; query: Query<'prefix'> }>
export const listPolicies = 'GET /v1/policies' as Operation<Answers['PolicyPage'], { query: Query<'prefix' | 'contains' | 'limit' | 'after'> }>
export const getPolicy = 'GET /v1/policies/{prefix}' as Operation<Answers['Policy'], { path: Path<'prefix'> }>
export const putPolicy = 'PUT /v1/policies/{prefix}' as Operation<Answers['Policy'], { path: Path<'prefix'>; body: Bodies['PolicySettings'] }>
export const updatePolicy = 'PATCH /v1/policies/{prefix}' as Operation<Answers['Policy'], { path: Path<'prefix'>; body: Bodies['PolicyChanges'] }>
export const deletePolicy = 'DELETE /v1/policies/{prefix}' as Operation<undefined, { path: Path<'prefix'> }>
export const policyLosses = 'POST /v1/policies/{prefix}/losses' as Operation<Answers['Losses'], { path: Path<'prefix'>; body: Bodies['PolicySettings'] }>
export const listQueues = 'GET /v1/queues' as Operation<Answers['QueuePage'], { query: Query<'prefix' | 'contains' | 'limit' | 'after' | 'state' | 'sort' | 'deadLetterQueue'> }>
export const listErrors = 'GET /v1/queues/{queue}/errors' as Operation<Answers['DeadErrors'], { path: Path<'queue'>; query: Query<'from'> }>
export const queueHistory = 'GET /v1/queues/{queue}/history' as Operation<Answers['QueueHistory'], { path: Path<'queue'>; query: Query<'period'> }>
export const redriveQueue = 'POST /v1/queues/{queue}/redrive' as Operation<Answers['Moved'], { path: Path<'queue'>; body: Bodies['Redrive'] }>
export const promoteMessages = 'POST /v1/queues/{queue}/promote' as Operation<Answers['Promoted'], { path: Path<'queue'>; body: Bodies['Promote'] }>
export const purgeQueue = 'POST /v1/queues/{queue}/purge' as Operation<Answers['Deleted'], { path: Path<'queue'>; body: Bodies['Purge'] }>
export const getQueue = 'GET /v1/queues/{queue}' as Operation<Answers['QueueStatus'], { path: Path<'queue'> }>
export const putQueue = 'PUT /v1/queues/{queue}' as Operation<Answers['Queue'], { path: Path<'queue'>; body: Bodies['QueueSettings'] }>
export const deleteQueue = 'DELETE /v1/queues/{queue}' as Operation<undefined, { path: Path<'queue'> }>
export const updateQueue = 'PATCH /v1/queues/{queue}' as Operation<Answers['Queue'], { path: Path<'queue'>; body: Bodies['QueueChanges'] }>
export const pauseQueue = 'POST /v1/queues/{queue}/pause' as Operation<Answers['Queue'], { path: Path<'queue'>; body: Bodies['NoFields'] }>
export const resumeQueue = 'POST /v1/queues/{queue}/resume' as Operation<Answers['Queue'], { path: Path<'queue'>; body: Bodies['NoFields'] }>
export const holdQueue = 'POST /v1/queues/{queue}/hold' as Operation<Answers['Held'], { path: Path<'queue'>; body: Bodies['Hold'] }>
export const sendMessages = 'POST /v1/queues/{queue}/messages' as Operation<Answers['SentOneOrMany'], { path: Path<'queue'>; body: Bodies['Sending'] }>
export const peekMessages = 'GET /v1/queues/{queue}/messages' as Operation<Answers['MessagePage'], { path: Path<'queue'>; query: Query<'state' | 'bodies' | 'error' | 'from' | 'limit' | 'after'> }>
export const getMessage = 'GET /v1/queues/{queue}/messages/{id}' as Operation<Answers['WholeMessage'], { path: Path<'queue' | 'id'> }>
export const deleteMessage = 'DELETE /v1/queues/{queue}/messages/{id}' as Operation<undefined, { path: Path<'queue' | 'id'> }>
export const cancelMessage = 'DELETE /v1/queues/{queue}/keys/{key}' as Operation<undefined, { path: Path<'queue' | 'key'> }>
export const receiveMessages = 'POST /v1/queues/{queue}/receive' as Operation<Answers['Received'], { path: Path<'queue'>; body: Bodies['Receive'] }>
export const cycleMessages = 'POST /v1/queues/{queue}/cycle' as Operation<Answers['Received'], { path: Path<'queue'>; body: Bodies['Cycle'] }>
export const ackMessages = 'POST /v1/queues/{queue}/ack' as Operation<Answers['AckedReceipts'], { path: Path<'queue'>; body: Bodies['Ack'] }>
export const nackMessages = 'POST /v1/queues/{queue}/nack' as Operation<Answers['NackedReceipts'], { path: Path<'queue'>; body: Bodies['Nack'] }>
export const extendMessages = 'POST /v1/queues/{queue}/extend' as Operation<Answers['ExtendedReceipts'], { path: Path<'queue'>; body: Bodies['Extend'] }>
export const listSchedules = 'GET /v1/schedules' as Operation<Answers['SchedulePage'], { query: Query<'prefix' | 'contains' | 'limit' | 'after'> }>
export const getSchedule = 'GET /v1/schedules/{schedule}' as Operation<Answers['Schedule'], { path: Path<'schedule'> }>
export const putSchedule = 'PUT /v1/schedules/{schedule}' as Operation<Answers['Schedule'], { path: Path<'schedule'>; body: Bodies['NewSchedule'] }>
export const updateSchedule = 'PATCH /v1/schedules/{schedule}' as Operation<Answers['Schedule'], { path: Path<'schedule'>; body: Bodies['ScheduleChanges'] }>
export const deleteSchedule = 'DELETE /v1/schedules/{schedule}' as Operation<undefined, { path: Path<'schedule'> }>
export const listFeeds = 'GET /v1/feeds' as Operation<Answers['FeedPage'], { query: Query<'prefix' | 'contains' | 'limit' | 'after'> }>
export const getFeedStatus = 'GET /v1/feeds/{feed}' as Operation<Answers['Feed'], { path: Path<'feed'> }>
export const dropFeed = 'DELETE /v1/feeds/{feed}' as Operation<undefined, { path: Path<'feed'> }>
export const republishEntries = 'POST /v1/feeds/{feed}/republish' as Operation<Answers['Republished'], { path: Path<'feed'>; body: Bodies['Republish'] }>
export const getEntry = 'GET /v1/feeds/{feed}/entries/{key}' as Operation<Answers['Entry'], { path: Path<'feed' | 'key'> }>
export const putEntry = 'PUT /v1/feeds/{feed}/entries/{key}' as Operation<Answers['Entry'], { path: Path<'feed' | 'key'>; body: Bodies['NewValue'] }>
export const deleteEntry = 'DELETE /v1/feeds/{feed}/entries/{key}' as Operation<Answers['Entry'], { path: Path<'feed' | 'key'> }>
export const putEntries = 'POST /v1/feeds/{feed}/entries' as Operation<Answers['PutEntries'], { path: Path<'feed'>; body: Bodies['NewEntries'] }>
export const getChanges = 'GET /v1/feeds/{feed}/changes' as Operation<Answers['Changes'], { path: Path<'feed'>; query: Query<'after' | 'consumer' | 'limit' | 'waitSeconds'> }>
export const getCursor = 'GET /v1/feeds/{feed}/consumers/{consumer}' as Operation<Answers['Consumer'], { path: Path<'feed' | 'consumer'> }>
export const moveCursor = 'PUT /v1/feeds/{feed}/consumers/{consumer}' as Operation<Answers['Consumer'], { path: Path<'feed' | 'consumer'>; body: Bodies['NewCursor'] }>
export const dropCursor = 'DELETE /v1/feeds/{feed}/consumers/{consumer}' as Operation<undefined, { path: Path<'feed' | 'consumer'> }>
export const getOverview = 'GET /v1/overview' as Operation<Answers['Overview'], { query: Query<'prefix'> }>
export const getAccess = 'GET /v1/access' as Operation<Answers['Access']>
export const livez = 'GET /livez' as Operation<Answers['Health']>
export const readyz = 'GET /readyz' as Operation<Answers['Health']>
export const metrics = 'GET /metrics' as Operation<Answers['Metrics']>
