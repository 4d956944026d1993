/* Desktops to cast, each picture of which is a function of the mode and the picture's number alone.
 *
 *     gcc -O2 -o desktops Benchmarks/Desktops/desktops.c $(pkg-config --cflags --libs x11 xft) -lm
 *     desktops [--mode MODE] [--rate HZ] [--freeze NUMBER] [--display :N]
 *
 *     static     a page of coloured text; only the bar code changes, once a second
 *     typing     ten letters a second are typed into a terminal beside the page
 *     scroll     the page scrolls by 6 lines of pixels, 30 times a second
 *     drag       a window is dragged over the page, 30 times a second
 *     video      a film plays beside the page, at 30 pictures a second
 *     slides     a slide replaces the page every three seconds
 *     lecture    the same, and the bar code changes 30 times a second, as a clock of the presenter would
 *     lines      thin lines turn on white in the place of the page, 30 times a second
 *     editor     a dark editor is typed in at 10 letters a second, and paged every six seconds
 *     terminal   a terminal prints 30 coloured lines a second
 *
 * The bar code at (16, 16) has 32 x 2 cells of 16 pixels, the most significant bit first: 24 bits for the number of the picture,
 * 32 bits for the time at which it was drawn (milliseconds of the wall clock), 8 bits of CRC-8 (0x07). Only the changed
 * rectangle is copied to the window, so that a capturer sees the damage of a real program.
 *
 * SIGUSR1 pauses the desktop, and a second one resumes it. With --freeze, picture NUMBER alone is drawn: the truth to compare with.
 */
#include <X11/Xft/Xft.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 1920, HEIGHT = 1080, CODE_X = 16, CODE_Y = 16, CELL = 16, COLUMNS = 32 };
/* The large window on the left: page, editor, terminal or slides. */
enum { LEFT = 40, TOP = 110, WIDE = 1180, TALL = 900, LINE = 18, LINES = TALL / LINE, LETTER = 8, MOST_LETTERS = WIDE / LETTER - 8 };
enum { PAGE_TALL = 5400, PIXELS_A_STEP = 6 };
enum { LETTERS_A_PAGE = 60, LINES_A_PAGE = 12, PICTURES_A_SLIDE = 15, PICTURES_A_LECTURE_SLIDE = 90 };
/* The terminal on the right, in cells of 7 x 16 pixels. */
enum { SHELL_X = 1260, SHELL_Y = 110, SHELL_WIDE = 620, SHELL_TALL = 420, SHELL_COLUMNS = 86, SHELL_ROWS = 26 };
enum { FILM_X = 1250, FILM_Y = 560, FILM_WIDE = 640, FILM_TALL = 360 };
enum { DRAGGED_WIDE = 640, DRAGGED_TALL = 420 };

static Display *display;
static Visual *visual;
static Window window;
static Pixmap screen, desktop, page, dragged;
static XImage *film;
static GC context;
static XftFont *small, *mono, *label, *heading, *sans, *title;
static volatile sig_atomic_t paused, ended;

static void toggle(int signal) { (void)signal; paused = !paused; }
static void end(int signal) { (void)signal; ended = 1; }

static const char *words[] = {"func", "encode", "let", "rate", "=", "capacity", "/", "1_000", "if", "frame", "is", "lost", "return", "nil",
                              "illegible", "lllIII111", "0x7f3a", "window", "scroll", "queue", "await", "struct", "0O8B", "packet"};
static uint32_t number;
static uint32_t next_number(void) { number = number * 1664525u + 1013904223u; return number >> 8; }
static const char *next_word(void) { return words[next_number() % (sizeof words / sizeof *words)]; }

static void fill(Drawable place, unsigned long colour, int x, int y, int width, int height) {
  XSetForeground(display, context, colour);
  XFillRectangle(display, place, context, x, y, width, height);
}

static void text(Drawable place, XftFont *font, unsigned rgb, int x, int y, const char *string) {
  static XftDraw *drawing;
  if (!drawing) drawing = XftDrawCreate(display, place, visual, DefaultColormap(display, DefaultScreen(display)));
  XftDrawChange(drawing, place);
  XRenderColor render = {(rgb >> 16 & 255) * 257, (rgb >> 8 & 255) * 257, (rgb & 255) * 257, 0xffff};
  XftColor colour;
  XftColorAllocValue(display, visual, DefaultColormap(display, DefaultScreen(display)), &render, &colour);
  XftDrawStringUtf8(drawing, &colour, font, x, y, (const FcChar8 *)string, (int)strlen(string));
}

/* Words from x up to the right edge, each in one of six colours. */
static void coloured_words(Drawable place, XftFont *font, int letter, const unsigned *colours, int x, int y, int right) {
  for (const char *word = next_word(); x + (int)strlen(word) * letter < right; word = next_word()) {
    text(place, font, colours[next_number() % 6], x, y, word);
    x += ((int)strlen(word) + 1) * letter;
  }
}

/* The page */

static const unsigned inks[] = {0x202020, 0x0000cc, 0xa31515, 0x008000, 0x795e26, 0x6f008a};

static void table_row(Drawable place, int y) {
  char figure[16];
  for (int column = 0; column < 12; column++) {
    XSetForeground(display, context, 0x808080);
    XDrawRectangle(display, place, context, 10 + column * 96, y, 96, LINE);
    snprintf(figure, sizeof figure, "%u.%03u", next_number() % 1000, next_number() % 1000);
    text(place, label, 0x202020, 16 + column * 96, y + 14, figure);
  }
}

/* Six screens of headings, code, text in colours upon colours, and tables; the first screen once more below the last. */
static void draw_page(void) {
  static const unsigned grounds[] = {0x0000ff, 0x008000, 0x800080, 0x202020, 0xd00000, 0xff8000};
  static const unsigned contrasts[] = {0xffff00, 0xff0000, 0x00ffff, 0xff00ff, 0xffffff, 0x0000ff};
  static const unsigned black[] = {0x202020, 0x202020, 0x202020, 0x202020, 0x202020, 0x202020};
  number = 777;
  page = XCreatePixmap(display, window, WIDE, PAGE_TALL + TALL, 24);
  fill(page, 0xffffff, 0, 0, WIDE, PAGE_TALL + TALL);
  for (int row = 0; row * LINE < PAGE_TALL; row++) {
    int y = row * LINE, kind = row % 40;
    if (kind == 0) text(page, heading, 0x1a0dab, 20, y + 15, "Section heading: Wavelengths, ligatures & illness 0123456789");
    else if (kind >= 20 && kind < 26) {
      unsigned ink[6];
      for (int i = 0; i < 6; i++) ink[i] = contrasts[kind - 20];
      fill(page, grounds[kind - 20], 10, y, WIDE - 20, LINE);
      coloured_words(page, mono, 8, ink, 16, y + 14, WIDE - 20);
    } else if (kind >= 30 && kind < 36) table_row(page, y);
    else coloured_words(page, kind < 20 ? mono : label, 8, kind < 20 ? inks : black, 16 + kind % 5 * 16, y + 14, WIDE - 90);
  }
  XCopyArea(display, page, page, context, 0, 0, WIDE, TALL, 0, PAGE_TALL);
}

/* The desktop behind everything that moves, and the window that is dragged over it. */
static void draw_desktop(void) {
  static const unsigned dark[] = {0xd4d4d4, 0x569cd6, 0xce9178, 0x6a9955, 0xdcdcaa, 0xc586c0};
  static const unsigned links[] = {0x202020, 0x202020, 0x0645ad, 0x202020, 0x202020, 0x0645ad};
  char name[32];
  number = 4242;
  fill(desktop, 0x2f4f6f, 0, 0, WIDTH, HEIGHT);
  fill(desktop, 0x1e1e1e, 0, 0, WIDTH, 72);
  fill(desktop, 0x303030, 0, HEIGHT - 40, WIDTH, 40);
  fill(desktop, 0x808080, 0, 0, 2 * CODE_X + COLUMNS * CELL, 2 * CODE_Y + 2 * CELL);
  for (int i = 0; i < 9; i++) {
    snprintf(name, sizeof name, "Application %d", i);
    fill(desktop, 0x404040 + i * 0x0a1403, 20 + i * 150, HEIGHT - 34, 140, 28);
    text(desktop, label, 0xf0f0f0, 28 + i * 150, HEIGHT - 15, name);
  }
  fill(desktop, 0xdcdcdc, LEFT - 2, TOP - 30, WIDE + 4, TALL + 32);
  text(desktop, label, 0x000000, LEFT + 10, TOP - 10, "document.html - Reader");
  XCopyArea(display, page, desktop, context, 0, 0, WIDE, TALL, LEFT, TOP);
  fill(desktop, 0x444444, SHELL_X - 2, SHELL_Y - 30, SHELL_WIDE + 4, SHELL_TALL + 32);
  text(desktop, label, 0xffffff, SHELL_X + 10, SHELL_Y - 10, "Terminal");
  fill(desktop, 0x101010, SHELL_X, SHELL_Y, SHELL_WIDE, SHELL_TALL);
  fill(desktop, 0x1e1e1e, FILM_X, FILM_Y, FILM_WIDE, FILM_TALL + 100);
  for (int row = 0; row < 29; row++)
    coloured_words(desktop, small, 7, dark, FILM_X + 10 + row % 4 * 16, FILM_Y + 14 + row * 15, FILM_X + FILM_WIDE - 60);

  dragged = XCreatePixmap(display, window, DRAGGED_WIDE, DRAGGED_TALL, 24);
  fill(dragged, 0x3a6ea5, 0, 0, DRAGGED_WIDE, 26);
  text(dragged, label, 0xffffff, 10, 18, "Files");
  fill(dragged, 0xfafafa, 1, 26, DRAGGED_WIDE - 2, DRAGGED_TALL - 27);
  for (int row = 0; row < 22; row++) coloured_words(dragged, label, 8, links, 12, 44 + row * 17, DRAGGED_WIDE - 20);
}

/* Modes. Each draws picture `id` into `screen` and returns the rectangle that differs from the picture before; `isFirst`: nothing
 * was drawn before. */

static XRectangle draw_static(uint32_t id, int isFirst) {
  (void)id, (void)isFirst;
  return (XRectangle){0, 0, 0, 0};
}

static void type_letter(uint32_t id) {
  uint32_t cell = id % (SHELL_COLUMNS * SHELL_ROWS);
  int x = SHELL_X + 8 + (int)(cell % SHELL_COLUMNS) * 7, y = SHELL_Y + 4 + (int)(cell / SHELL_COLUMNS) * 16;
  uint32_t hash = (id + 1) * 2654435761u;
  char letter[] = {(hash >> 20) % 6 == 0 ? ' ' : (char)('a' + (hash >> 16) % 26), 0};
  if (cell == 0) fill(screen, 0x101010, SHELL_X, SHELL_Y, SHELL_WIDE, SHELL_TALL);
  fill(screen, 0x101010, x, y, 7, 16);
  text(screen, small, id / 40 % 3 ? 0xd0d0d0 : 0x50e050, x, y + 12, letter);
  if (cell % SHELL_COLUMNS != SHELL_COLUMNS - 1) fill(screen, 0xd0d0d0, x + 7, y, 7, 16); /* the caret */
}

static XRectangle draw_typing(uint32_t id, int isFirst) {
  uint32_t cell = id % (SHELL_COLUMNS * SHELL_ROWS);
  for (uint32_t earlier = isFirst ? id - cell : id; earlier < id; earlier++) type_letter(earlier);
  type_letter(id);
  if (cell == 0) return (XRectangle){SHELL_X, SHELL_Y, SHELL_WIDE, SHELL_TALL};
  return (XRectangle){SHELL_X + 8 + cell % SHELL_COLUMNS * 7, SHELL_Y + 4 + cell / SHELL_COLUMNS * 16, 14, 16};
}

static XRectangle draw_scroll(uint32_t id, int isFirst) {
  (void)isFirst;
  XCopyArea(display, page, screen, context, 0, id * PIXELS_A_STEP % PAGE_TALL, WIDE, TALL, LEFT, TOP);
  return (XRectangle){LEFT, TOP, WIDE, TALL};
}

static XRectangle draw_drag(uint32_t id, int isFirst) {
  static int oldX, oldY;
  int x = 420 + (int)lround(400 * sin(id * 0.035)), y = 330 + (int)lround(220 * sin(id * 0.053));
  if (isFirst) oldX = x, oldY = y;
  else XCopyArea(display, desktop, screen, context, oldX, oldY, DRAGGED_WIDE, DRAGGED_TALL, oldX, oldY);
  XCopyArea(display, dragged, screen, context, 0, 0, DRAGGED_WIDE, DRAGGED_TALL, x, y);
  XRectangle change = {x < oldX ? x : oldX, y < oldY ? y : oldY, DRAGGED_WIDE + abs(x - oldX), DRAGGED_TALL + abs(y - oldY)};
  oldX = x, oldY = y;
  return change;
}

/* Waves of colour with noise, and a bright disc that moves across them. */
static XRectangle draw_video(uint32_t id, int isFirst) {
  static int wave[1024];
  (void)isFirst;
  for (int i = 0; i < 1024 && wave[255] == 0; i++) wave[i] = (int)lround(127 * sin(i * M_PI / 512));
  int discX = 320 + 200 * wave[id * 9 & 1023] / 127, discY = 180 + 100 * wave[id * 13 & 1023] / 127;
  uint32_t noise = id * 2654435761u + 1;
  for (int y = 0; y < FILM_TALL; y++)
    for (int x = 0; x < FILM_WIDE; x++) {
      noise = noise * 1664525u + 1013904223u;
      int grain = (int)(noise >> 28) - 8;
      int red = 128 + (wave[(x * 3 + id * 7) & 1023] + wave[(y * 5 + id * 4) & 1023]) / 3 + grain;
      int green = 128 + (wave[(x + y * 3 + id * 11) & 1023] + wave[(x * 4 - y * 2) & 1023]) / 3 + grain;
      int blue = 128 + wave[(x * 2 - y + id * 5) & 1023] / 2 + grain;
      int fromX = x - discX, fromY = y - discY;
      if (fromX * fromX + fromY * fromY < 40 * 40) red = 250, green = 230, blue = 90;
      ((uint32_t *)film->data)[y * FILM_WIDE + x] = (uint32_t)red << 16 | (uint32_t)green << 8 | (uint32_t)blue;
    }
  XPutImage(display, screen, context, film, 0, 0, FILM_X, FILM_Y, FILM_WIDE, FILM_TALL);
  return (XRectangle){FILM_X, FILM_Y, FILM_WIDE, FILM_TALL};
}

/* A line of words in colours, always the same for the same line, of at most so many letters. */
static void line(uint32_t which, int row, int letters, unsigned ground, const unsigned *colours) {
  number = which * 2654435761u + 17;
  fill(screen, ground, LEFT, TOP + row * LINE, WIDE, LINE);
  int at = (int)(next_number() % 5) * 4, most = 30 + (int)(next_number() % (MOST_LETTERS - 30));
  if (letters < most) most = letters;
  while (at < most) {
    char word[32];
    snprintf(word, sizeof word, "%.*s", most - at, next_word());
    text(screen, mono, colours[next_number() % 6], LEFT + 8 + at * LETTER, TOP + row * LINE + 14, word);
    at += (int)strlen(word) + 1;
  }
}

static XRectangle draw_editor(uint32_t id, int isFirst) {
  static const unsigned colours[] = {0xd4d4d4, 0x569cd6, 0xce9178, 0x6a9955, 0xdcdcaa, 0xc586c0};
  uint32_t first = id / LETTERS_A_PAGE * LINES_A_PAGE;
  int typed = LINES / 2, isPaged = isFirst || id % LETTERS_A_PAGE == 0;
  for (int row = isPaged ? 0 : typed; row < (isPaged ? LINES : typed + 1); row++)
    line(first + row, row, row == typed ? (int)(id % LETTERS_A_PAGE) : MOST_LETTERS, row == typed ? 0x2a2d2e : 0x1e1e1e, colours);
  return isPaged ? (XRectangle){LEFT, TOP, WIDE, TALL} : (XRectangle){LEFT, TOP + typed * LINE, WIDE, LINE};
}

static XRectangle draw_terminal(uint32_t id, int isFirst) {
  static const unsigned colours[] = {0xd0d0d0, 0x50e050, 0xff6060, 0x6090ff, 0xe0e050, 0x50e0e0};
  if (!isFirst) XCopyArea(display, screen, screen, context, LEFT, TOP + LINE, WIDE, (LINES - 1) * LINE, LEFT, TOP);
  for (int row = isFirst ? 0 : LINES - 1; row < LINES; row++) line(id + row, row, MOST_LETTERS, 0x101010, colours);
  return (XRectangle){LEFT, TOP, WIDE, TALL};
}

static XRectangle draw_slide(uint32_t slide) {
  static const unsigned grounds[] = {0xffffff, 0x103a5c, 0xfdf6e3, 0x5c1030}, ink[] = {0x202020, 0xffffff, 0x586e75, 0xffe0a0};
  static const unsigned bars[] = {0xd00000, 0x0060d0, 0x00a040, 0xf0a000};
  char string[96];
  number = slide * 2654435761u + 99;
  fill(screen, grounds[slide % 4], LEFT, TOP, WIDE, TALL);
  snprintf(string, sizeof string, "Slide %u: what a frame costs", slide);
  text(screen, title, ink[slide % 4], LEFT + 60, TOP + 90, string);
  for (int point = 0; point < 5; point++) {
    const char *first = next_word(), *second = next_word(), *third = next_word();
    unsigned milliseconds = next_number() % 90, rate = next_number() % 2500;
    snprintf(string, sizeof string, "\xe2\x80\xa2 %s %s %u ms, %s at %u kbit/s", first, second, milliseconds, third, rate);
    text(screen, sans, ink[slide % 4], LEFT + 80, TOP + 170 + point * 44, string);
  }
  for (int bar = 0; bar < 8; bar++) {
    int tall = 40 + (int)(next_number() % 360);
    unsigned value = next_number() % 10000;
    fill(screen, bars[bar % 4], LEFT + 100 + bar * 120, TOP + TALL - 60 - tall, 80, tall);
    snprintf(string, sizeof string, "%u.%02u", value / 100, value % 100);
    text(screen, mono, ink[slide % 4], LEFT + 110 + bar * 120, TOP + TALL - 36, string);
  }
  return (XRectangle){LEFT, TOP, WIDE, TALL};
}

static XRectangle draw_slides(uint32_t id, int isFirst) {
  return isFirst || id % PICTURES_A_SLIDE == 0 ? draw_slide(id / PICTURES_A_SLIDE) : (XRectangle){0, 0, 0, 0};
}

static XRectangle draw_lecture(uint32_t id, int isFirst) {
  return isFirst || id % PICTURES_A_LECTURE_SLIDE == 0 ? draw_slide(id / PICTURES_A_LECTURE_SLIDE) : (XRectangle){0, 0, 0, 0};
}

static XRectangle draw_lines(uint32_t id, int isFirst) {
  static const unsigned ink[] = {0x202020, 0xcc0000, 0x0060d0, 0x008000};
  (void)isFirst;
  fill(screen, 0xffffff, LEFT, TOP, WIDE, TALL);
  XSetLineAttributes(display, context, 2, LineSolid, CapButt, JoinMiter);
  for (int i = 0; i < 36; i++) {
    double angle = id / 40.0 * (1 + i % 5 / 5.0) + i * 0.7, x = LEFT + 60 + i % 9 * 125, y = TOP + 90 + i / 9 * 220;
    XSetForeground(display, context, ink[i % 4]);
    XDrawLine(display, screen, context, (int)lround(x - 55 * cos(angle)), (int)lround(y - 85 * sin(angle)), (int)lround(x + 55 * cos(angle)),
              (int)lround(y + 85 * sin(angle)));
  }
  return (XRectangle){LEFT, TOP, WIDE, TALL};
}

static const struct Mode {
  const char *name;
  double rate;
  XRectangle (*draw)(uint32_t id, int isFirst);
} modes[] = {{"static", 1, draw_static}, {"typing", 10, draw_typing}, {"scroll", 30, draw_scroll}, {"drag", 30, draw_drag},
             {"video", 30, draw_video},  {"slides", 5, draw_slides},  {"lecture", 30, draw_lecture}, {"lines", 30, draw_lines},
             {"editor", 10, draw_editor}, {"terminal", 30, draw_terminal}};

/* The bar code, and what is shown */

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
    fill(screen, bytes[bit / 8] >> (7 - bit % 8) & 1 ? 0xffffff : 0, CODE_X + bit % COLUMNS * CELL, CODE_Y + bit / COLUMNS * CELL,
         CELL, CELL);
}

static void show(XRectangle change) {
  if (change.width == 0) return;
  XCopyArea(display, screen, window, context, change.x, change.y, change.width, change.height, change.x, change.y);
}

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void open_window(const char *name) {
  if (!(display = XOpenDisplay(name))) { fprintf(stderr, "desktops: no display\n"); exit(69); }
  int screenNumber = DefaultScreen(display);
  visual = DefaultVisual(display, screenNumber);
  XSetWindowAttributes attributes = {
    .override_redirect = True, .background_pixmap = None, .event_mask = ExposureMask | VisibilityChangeMask};
  window = XCreateWindow(display, RootWindow(display, screenNumber), 0, 0, WIDTH, HEIGHT, 0, 24, InputOutput, visual,
                         CWOverrideRedirect | CWBackPixmap | CWEventMask, &attributes);
  char none = 0;
  XColor black = {0};
  Pixmap empty = XCreateBitmapFromData(display, window, &none, 1, 1);
  XDefineCursor(display, window, XCreatePixmapCursor(display, empty, empty, &black, &black, 0, 0));
  context = XCreateGC(display, window, 0, NULL);
  XSetGraphicsExposures(display, context, False);
  screen = XCreatePixmap(display, window, WIDTH, HEIGHT, 24);
  desktop = XCreatePixmap(display, window, WIDTH, HEIGHT, 24);
  film = XCreateImage(display, visual, 24, ZPixmap, 0, calloc(FILM_WIDE * FILM_TALL, 4), FILM_WIDE, FILM_TALL, 32, 0);
  struct { XftFont **font; const char *name; } fonts[] = {
    {&small, "DejaVu Sans Mono:pixelsize=11"}, {&mono, "DejaVu Sans Mono:pixelsize=13"}, {&label, "DejaVu Sans:pixelsize=12"},
    {&heading, "DejaVu Sans:pixelsize=17:bold"}, {&sans, "DejaVu Sans:pixelsize=26"}, {&title, "DejaVu Sans:pixelsize=44:bold"}};
  for (size_t i = 0; i < sizeof fonts / sizeof *fonts; i++) *fonts[i].font = XftFontOpenName(display, screenNumber, fonts[i].name);
  draw_page();
  draw_desktop();
  XCopyArea(display, desktop, screen, context, 0, 0, WIDTH, HEIGHT, 0, 0);
  XMapRaised(display, window);
}

/* The window stays on top, and what another window covered is drawn again. */
static void serve_events(void) {
  while (XPending(display)) {
    XEvent event;
    XNextEvent(display, &event);
    if (event.type == VisibilityNotify && event.xvisibility.state != VisibilityUnobscured) XRaiseWindow(display, window);
    if (event.type == Expose)
      show((XRectangle){event.xexpose.x, event.xexpose.y, event.xexpose.width, event.xexpose.height});
  }
}

int main(int count, char **arguments) {
  const struct Mode *mode = NULL;
  const char *name = NULL, *wanted = "editor";
  double rate = 0;
  long frozen = -1;
  for (int i = 1; i + 1 < count; i += 2) {
    if (!strcmp(arguments[i], "--mode")) wanted = arguments[i + 1];
    else if (!strcmp(arguments[i], "--rate")) rate = atof(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--freeze")) frozen = atol(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--display")) name = arguments[i + 1];
  }
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (!strcmp(modes[i].name, wanted)) mode = &modes[i];
  if (!mode) { fprintf(stderr, "desktops: no mode %s\n", wanted); return 64; }
  if (rate <= 0) rate = mode->rate;
  struct sigaction action = {.sa_handler = toggle};
  sigaction(SIGUSR1, &action, 0);
  action.sa_handler = end;
  sigaction(SIGTERM, &action, 0);
  sigaction(SIGINT, &action, 0);
  open_window(name);
  uint32_t id = frozen >= 0 ? (uint32_t)frozen : 0;
  int isFirst = 1;
  uint64_t next = nanoseconds(CLOCK_MONOTONIC);
  while (!ended) {
    serve_events();
    if (!paused && (frozen < 0 || isFirst)) {
      XRectangle change = mode->draw(id, isFirst);
      draw_code(id, (uint32_t)(nanoseconds(CLOCK_REALTIME) / 1000000));
      show(isFirst ? (XRectangle){0, 0, WIDTH, HEIGHT} : change);
      show((XRectangle){CODE_X, CODE_Y, COLUMNS * CELL, 2 * CELL});
      XSync(display, False);
      isFirst = 0;
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
