/** Text that is hard to read on its ground, as the browser shows it (WCAG 2.2, 1.4.3). */
import type { Page } from 'playwright-core'

/** Contrasts below 4.5, or 3 for large text, each once: how much, and its text. Disabled controls may be. */
export function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Color = readonly [number, number, number, number]

    function colorOf(text: string): Color {
      const [red = 0, green = 0, blue = 0, alpha = 1] = (/rgba?\((.+)\)/.exec(text)?.[1] ?? '')
        .split(/[ ,/]+/)
        .map(Number)
      return [red, green, blue, alpha]
    }

    function over([red, green, blue, alpha]: Color, ground: Color): Color {
      const mixed = (one: number, other: number) => one * alpha + other * (1 - alpha)
      return [mixed(red, ground[0]), mixed(green, ground[1]), mixed(blue, ground[2]), 1]
    }

    function luminance([red, green, blue]: Color): number {
      const part = (value: number) => {
        const share = value / 255
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      }
      return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
    }

    function around(element: Element): Element[] {
      const found: Element[] = []
      for (let each: Element | null = element; each !== null; each = each.parentElement) found.push(each)
      return found
    }

    function groundOf(element: Element): Color {
      const canvas: Color = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1]
      return around(element)
        .map((each) => colorOf(getComputedStyle(each).backgroundColor))
        .reduceRight((ground, color) => over(color, ground), canvas)
    }

    const hasText = (element: Element) =>
      element.matches('input, select, textarea') ||
      [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '')
    const isSeen = (element: Element) =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      element.getBoundingClientRect().width > 1 &&
      !element.matches(':disabled')

    const faint = new Set<string>()
    for (const element of [...document.querySelectorAll('body *')].filter((each) => hasText(each) && isSeen(each))) {
      const style = getComputedStyle(element)
      const ground = groundOf(element)
      const [red, green, blue, alpha] = colorOf(style.color)
      const opacity = around(element).reduce((all, each) => all * Number(getComputedStyle(each).opacity), alpha)
      const sides = [luminance(over([red, green, blue, opacity], ground)), luminance(ground)].sort((a, b) => a - b)
      const ratio = ((sides[1] ?? 0) + 0.05) / ((sides[0] ?? 0) + 0.05)
      const size = Number.parseFloat(style.fontSize)
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      const what = `${element.localName}.${[...element.classList].join('.')} in ${element.parentElement?.className}`
      if (ratio < (isLarge ? 3 : 4.5)) faint.add(`${ratio.toFixed(2)} ${what}: ${element.textContent?.slice(0, 40)}`)
    }
    return [...faint]
  })
}
