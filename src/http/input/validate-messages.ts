/** From a parsed body to what it asks of a queue, with every fault as a JSON pointer. */
import type { FaultSink } from '../../errors'
import type { NewMessage } from '../../repositories/queues/types'
import type { JsonBody } from './body'
import { MessagesDto, NewMessageDto, newMessageOf, type ReceiptsDto } from './dto/messages'
import { elementSources, wholeSource } from './json-source'
import { isObject } from './quick-items'
import { quickMessage, quickMessages } from './quick-messages'
import { addUnknown, type Class, listed, toDto, withText } from './validate'

/** One message, or a list of them. */
export type Sending = { message: NewMessage } | { messages: NewMessage[] }

/** What a body sends: it is a list when it has `messages`. */
export function toSending(body: JsonBody, faults: FaultSink): Sending {
  const { value } = body
  const isList = isObject(value) && Object.hasOwn(value, 'messages')
  if (isList) return { messages: quickMessages(body) ?? messagesOf(body, faults) }
  return { message: quickMessage(body) ?? messageOf(body, faults) }
}

export function messageOf(body: JsonBody, faults: FaultSink): NewMessage {
  return newMessageOf(toDto(NewMessageDto, withText('body', body.value, wholeSource(body)), '', faults))
}

export function messagesOf(body: JsonBody, faults: FaultSink): NewMessage[] {
  const { messages } = listed(MessagesDto, 'messages', body, faults)
  const sourceAt = elementSources(body, 'messages')
  return messages.map((message, i) =>
    newMessageOf(toDto(NewMessageDto, withText('body', message, sourceAt(i)), `/messages/${i}`, faults)),
  )
}

/** A body with receipt handles. One that is malformed is no fault of the request: the answer says so of each. */
export function toReceipts<T extends ReceiptsDto>(Dto: Class<T>, body: JsonBody, faults: FaultSink): T {
  const dto = listed(Dto, 'receiptHandles', body, faults)
  for (const [i, handle] of dto.receiptHandles.entries()) {
    if (typeof handle !== 'string') faults.push({ pointer: `/receiptHandles/${i}`, detail: 'must be a string' })
  }
  return dto
}

/** A body that has nothing to say. */
export function toNothing({ value }: JsonBody, faults: FaultSink): undefined {
  if (!isObject(value)) faults.push({ pointer: '', detail: 'must be an object' })
  else for (const key of Object.keys(value)) addUnknown(faults, '', key)
}
