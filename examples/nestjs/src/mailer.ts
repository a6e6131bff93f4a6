import { Injectable } from '@nestjs/common'

/** In place of your mail service. */
@Injectable()
export class Mailer {
  async deliver({ to, text }: { to: string; text: string }): Promise<void> {
    console.log(`mail to ${to}: ${text}`)
  }
}
