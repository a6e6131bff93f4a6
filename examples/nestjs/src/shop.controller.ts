import { Body, Controller, Get, Headers, Inject, Param, ParseIntPipe, Post, Query } from '@nestjs/common'
import { ShopService } from './shop.service.js'

@Controller()
export class ShopController {
  constructor(@Inject(ShopService) private readonly shop: ShopService) {}

  @Get('products/:id')
  async view(@Param('id', ParseIntPipe) id: number, @Headers('X-User') user: string) {
    return { alsoViewedBy: await this.shop.view(id, user) }
  }

  @Post('orders')
  async order(@Body() { product }: { product: number }, @Headers('X-User') user: string) {
    return { order: await this.shop.order(product, user) }
  }

  @Get('search')
  search(@Query('q') text: string) {
    return { products: this.shop.find(text) }
  }
}
