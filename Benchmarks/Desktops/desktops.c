/* Three desktops to cast: an editor in dark colours that is typed in and paged, a terminal that prints coloured lines, and slides.
 *
 *     gcc -O2 -o desktops Benchmarks/Desktops/desktops.c $(pkg-config --cflags --libs x11 xft)
 *     desktops --mode editor|terminal|slides [--rate HZ] [--freeze ID] [--display :N]
 *
 * Each picture is a function of mode and picture number alone. A bar code at (16, 16) tells the number and when it was drawn: 32 x 2
 * cells of 16 pixels, most significant bit first: 24 bits number, 32 bits milliseconds of the wall clock, 8 bits CRC-8 (0x07).
 * SIGUSR1 pauses and goes on. With --freeze picture ID alone is drawn, as the truth to compare with.
 */
#include <X11/Xft/Xft.h>
#include <X11/Xlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 1920, HEIGHT = 1080, CODE_X = 16, CODE_Y = 16, CELL = 16, COLUMNS = 32 };
/* The window that changes. */
enum { LEFT = 40, TOP = 110, WIDE = 1180, TALL = 900, LINE = 18, LINES = TALL / LINE, LETTER = 8, MOST_LETTERS = WIDE / LETTER - 8 };
/* A picture of the editor types a letter; each so many letters it is paged by so many lines. */
enum { LETTERS_A_PAGE = 60, LINES_A_PAGE = 12, PICTURES_A_SLIDE = 15 };

static Display *display;
static Window window;
static Pixmap screen;
static GC context;
static XftDraw *drawing;
static XftFont *mono, *sans, *title;
static volatile sig_atomic_t paused, ended;

static void toggle(int signal) { (void)signal; paused = !paused; }
static void end(int signal) { (void)signal; ended = 1; }

static const char *words[] = {"func", "encode", "let", "rate", "=", "capacity", "/", "1_000", "if", "frame", "is", "lost", "return", "nil",
                              "illegible", "lllIII111", "0x7f3a", "window", "scroll", "queue", "await", "struct", "0O8B", "packet"};
static uint32_t number;
static uint32_t next_number(void) { number = number * 1664525u + 1013904223u; return number >> 8; }

static void fill(unsigned long colour, int x, int y, int width, int height) {
  XSetForeground(display, context, colour);
  XFillRectangle(display, screen, context, x, y, width, height);
}

static void text(XftFont *font, unsigned rgb, int x, int y, const char *string, int length) {
  XRenderColor render = {(rgb >> 16 & 255) * 257, (rgb >> 8 & 255) * 257, (rgb & 255) * 257, 0xffff};
  XftColor colour;
  Visual *visual = DefaultVisual(display, DefaultScreen(display));
  XftColorAllocValue(display, visual, DefaultColormap(display, DefaultScreen(display)), &render, &colour);
  XftDrawStringUtf8(drawing, &colour, font, x, y, (const FcChar8 *)string, length);
}

/* A line of words in colours, always the same for the same line; `letters` of it. */
static void line(uint32_t which, int row, int letters, unsigned ground, const unsigned *colours) {
  number = which * 2654435761u + 17;
  fill(ground, LEFT, TOP + row * LINE, WIDE, LINE);
  int at = (int)(next_number() % 5) * 4, most = 30 + (int)(next_number() % (MOST_LETTERS - 30));
  if (letters < most) most = letters;
  while (at < most) {
    const char *word = words[next_number() % (sizeof words / sizeof *words)];
    unsigned colour = colours[next_number() % 6];
    int length = (int)strlen(word);
    if (at + length > most) length = most - at;
    text(mono, colour, LEFT + 8 + at * LETTER, TOP + row * LINE + 14, word, length);
    at += length + 1;
  }
}

static void draw_editor(uint32_t id) {
  static const unsigned colours[] = {0xd4d4d4, 0x569cd6, 0xce9178, 0x6a9955, 0xdcdcaa, 0xc586c0};
  static int drawn;
  uint32_t first = id / LETTERS_A_PAGE * LINES_A_PAGE;
  int typed = LINES / 2, all = !drawn || id % LETTERS_A_PAGE == 0;
  for (int row = all ? 0 : typed; row < (all ? LINES : typed + 1); row++)
    line(first + row, row, row == typed ? (int)(id % LETTERS_A_PAGE) : MOST_LETTERS, row == typed ? 0x2a2d2e : 0x1e1e1e, colours);
  drawn = 1;
}

static void draw_terminal(uint32_t id) {
  static const unsigned colours[] = {0xd0d0d0, 0x50e050, 0xff6060, 0x6090ff, 0xe0e050, 0x50e0e0};
  static uint32_t drawn;
  int row = 0;
  if (id > 0 && drawn == id) {
    XCopyArea(display, screen, screen, context, LEFT, TOP + LINE, WIDE, (LINES - 1) * LINE, LEFT, TOP);
    row = LINES - 1;
  }
  for (; row < LINES; row++) line(id + row, row, MOST_LETTERS, 0x101010, colours);
  drawn = id + 1;
}

static void draw_slide(uint32_t id) {
  static const unsigned grounds[] = {0xffffff, 0x103a5c, 0xfdf6e3, 0x5c1030}, inks[] = {0x202020, 0xffffff, 0x586e75, 0xffe0a0};
  static const unsigned bars[] = {0xd00000, 0x0060d0, 0x00a040, 0xf0a000};
  uint32_t slide = id / PICTURES_A_SLIDE;
  char string[96];
  number = slide * 2654435761u + 99;
  fill(grounds[slide % 4], LEFT, TOP, WIDE, TALL);
  snprintf(string, sizeof string, "Slide %u: what a frame costs", slide);
  text(title, inks[slide % 4], LEFT + 60, TOP + 90, string, (int)strlen(string));
  for (int point = 0; point < 5; point++) {
    snprintf(string, sizeof string, "\xe2\x80\xa2 %s %s %u ms, %s at %u kbit/s", words[next_number() % 24], words[next_number() % 24], next_number() % 90,
             words[next_number() % 24], next_number() % 2500);
    text(sans, inks[slide % 4], LEFT + 80, TOP + 170 + point * 44, string, (int)strlen(string));
  }
  for (int bar = 0; bar < 8; bar++) {
    int tall = 40 + (int)(next_number() % 360);
    fill(bars[bar % 4], LEFT + 100 + bar * 120, TOP + TALL - 60 - tall, 80, tall);
    snprintf(string, sizeof string, "%u.%02u", next_number() % 100, next_number() % 100);
    text(mono, inks[slide % 4], LEFT + 110 + bar * 120, TOP + TALL - 36, string, (int)strlen(string));
  }
}

static uint8_t crc8(const uint8_t *bytes, int count) {
  uint8_t crc = 0;
  while (count--) {
    crc ^= *bytes++;
    for (int bit = 0; bit < 8; bit++) crc = crc & 0x80 ? crc << 1 ^ 7 : crc << 1;
  }
  return crc;
}

static void draw_code(uint32_t id, uint32_t milliseconds) {
  uint8_t bytes[8] = {id >> 16, id >> 8, id, milliseconds >> 24, milliseconds >> 16, milliseconds >> 8, milliseconds};
  bytes[7] = crc8(bytes, 7);
  for (int bit = 0; bit < 64; bit++)
    fill(bytes[bit / 8] >> (7 - bit % 8) & 1 ? 0xffffff : 0, CODE_X + bit % COLUMNS * CELL, CODE_Y + bit / COLUMNS * CELL, CELL, CELL);
}

/* What is shown is what changed: the row typed in, the window, or with a new slide the window. */
static void show(int x, int y, int width, int height) { XCopyArea(display, screen, window, context, x, y, width, height, x, y); }
static void show_change(char mode, uint32_t id) {
  if (mode == 'e' && id % LETTERS_A_PAGE != 0) show(LEFT, TOP + LINES / 2 * LINE, WIDE, LINE);
  else if (mode != 's' || id % PICTURES_A_SLIDE == 0) show(LEFT, TOP, WIDE, TALL);
  show(CODE_X, CODE_Y, COLUMNS * CELL, 2 * CELL);
}

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void open_window(const char *name) {
  if (!(display = XOpenDisplay(name))) { fprintf(stderr, "desktops: no display\n"); exit(1); }
  int number = DefaultScreen(display);
  XSetWindowAttributes attributes = {.override_redirect = True, .background_pixmap = None, .event_mask = ExposureMask};
  window = XCreateWindow(display, RootWindow(display, number), 0, 0, WIDTH, HEIGHT, 0, 24, InputOutput, DefaultVisual(display, number),
                         CWOverrideRedirect | CWBackPixmap | CWEventMask, &attributes);
  char none = 0;
  XColor black = {0};
  Pixmap empty = XCreateBitmapFromData(display, window, &none, 1, 1);
  XDefineCursor(display, window, XCreatePixmapCursor(display, empty, empty, &black, &black, 0, 0));
  context = XCreateGC(display, window, 0, NULL);
  XSetGraphicsExposures(display, context, False);
  screen = XCreatePixmap(display, window, WIDTH, HEIGHT, 24);
  drawing = XftDrawCreate(display, screen, DefaultVisual(display, number), DefaultColormap(display, number));
  mono = XftFontOpenName(display, number, "DejaVu Sans Mono:pixelsize=13");
  sans = XftFontOpenName(display, number, "DejaVu Sans:pixelsize=26");
  title = XftFontOpenName(display, number, "DejaVu Sans:pixelsize=44:bold");
  fill(0x2f4f6f, 0, 0, WIDTH, HEIGHT);
  fill(0x1e1e1e, 0, 0, WIDTH, 72);
  fill(0x808080, 0, 0, 2 * CODE_X + COLUMNS * CELL, 2 * CODE_Y + 2 * CELL);
  XMapRaised(display, window);
}

int main(int count, char **arguments) {
  const char *mode = "editor", *name = NULL;
  double rate = 0;
  long frozen = -1;
  for (int i = 1; i + 1 < count; i += 2) {
    if (!strcmp(arguments[i], "--mode")) mode = arguments[i + 1];
    else if (!strcmp(arguments[i], "--rate")) rate = atof(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--freeze")) frozen = atol(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--display")) name = arguments[i + 1];
  }
  void (*draw)(uint32_t) = *mode == 'e' ? draw_editor : *mode == 't' ? draw_terminal : draw_slide;
  if (rate <= 0) rate = *mode == 'e' ? 10 : *mode == 't' ? 30 : 5;
  struct sigaction action = {.sa_handler = toggle};
  sigaction(SIGUSR1, &action, 0);
  action.sa_handler = end;
  sigaction(SIGTERM, &action, 0);
  sigaction(SIGINT, &action, 0);
  open_window(name);
  uint32_t id = frozen >= 0 ? (uint32_t)frozen : 0, drawn = 0;
  uint64_t next = nanoseconds(CLOCK_MONOTONIC);
  while (!ended) {
    while (XPending(display)) {
      XEvent event;
      XNextEvent(display, &event);
      if (event.type == Expose) show(event.xexpose.x, event.xexpose.y, event.xexpose.width, event.xexpose.height);
    }
    if (!paused && (frozen < 0 || !drawn)) {
      draw(id);
      draw_code(id, (uint32_t)(nanoseconds(CLOCK_REALTIME) / 1000000));
      if (drawn++) show_change(*mode, id); else show(0, 0, WIDTH, HEIGHT);
      XSync(display, False);
      id++;
    }
    next += 1e9 / rate;
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (next < now) next = now;
    struct timespec until = {next / 1000000000ull, next % 1000000000ull};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
  }
  return 0;
}
