import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.SynchronousQueue;

/**
 * Calls methods of JARs for a process that asks over standard input and output.
 *
 * Each message is its length in bytes, as a 32-bit integer, and then that many bytes; all integers are little-endian. A message holds the
 * number of its integers, the integers, and the bytes of its texts one after the other, in UTF-8. `docs/decisions/0042-custom-functions.md`.
 *
 * It is one class, so that one file is enough to start it.
 */
public final class QuadmillFunctions {
  /** A value: a text of this many bytes, or one of the following. */
  private static final int NOTHING = -1;
  /** A list of n items is LIST - n, then its items. */
  private static final int LIST = -2;
  /** An error: then the length of its message. */
  private static final int ERROR = Integer.MIN_VALUE;

  private final OutputStream output;
  private final Method[] methods;
  private final Object[] instances;
  private final Class<?>[][] types;

  private int[] numbers = new int[1024];
  private int count;
  private byte[] texts = new byte[65536];
  private int size;

  private QuadmillFunctions(OutputStream output, int functions) {
    this.output = output;
    this.methods = new Method[functions];
    this.instances = new Object[functions];
    this.types = new Class<?>[functions][];
  }

  public static void main(String[] args) throws Exception {
    OutputStream output = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 65536);
    // What functions print must not get among the answers.
    System.setOut(System.err);
    SynchronousQueue<ByteBuffer> messages = new SynchronousQueue<>();
    Thread reader = new Thread(() -> read(messages), "reader");
    reader.setDaemon(true);
    reader.start();
    QuadmillFunctions host = load(messages.take(), output);
    if (host == null) return;
    while (true) host.answer(messages.take());
  }

  /** Reads messages. The end of the input ends the process, whatever a function does at that moment. */
  private static void read(SynchronousQueue<ByteBuffer> messages) {
    try (DataInputStream input = new DataInputStream(new FileInputStream(FileDescriptor.in))) {
      byte[] head = new byte[4];
      while (true) {
        input.readFully(head);
        byte[] bytes = new byte[ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt()];
        input.readFully(bytes);
        messages.put(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
      }
    } catch (EOFException end) {
      halt(0);
    } catch (Exception error) {
      error.printStackTrace();
      halt(1);
    }
  }

  /** With what the functions have started. */
  private static void halt(int code) {
    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
    Runtime.getRuntime().halt(code);
  }

  // ---------------------------------------------------------------- loading

  /** The first message: number of JARs, their paths; for each function its class, method and number of parameters. */
  private static QuadmillFunctions load(ByteBuffer message, OutputStream output) throws Exception {
    int integers = message.getInt();
    int[] lengths = new int[integers];
    for (int i = 0; i < integers; i++) lengths[i] = message.getInt();
    int at = 0;
    int jars = lengths[at++];
    URL[] urls = new URL[jars];
    for (int i = 0; i < jars; i++) urls[i] = new File(text(message, lengths[at++])).toURI().toURL();
    ClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    int functions = lengths[at++];
    QuadmillFunctions host = new QuadmillFunctions(output, functions);
    Set<String> problems = new LinkedHashSet<>();
    for (int i = 0; i < functions; i++) {
      String className = text(message, lengths[at++]);
      String method = text(message, lengths[at++]);
      int parameters = lengths[at++];
      try {
        host.bind(i, Class.forName(className, true, loader), method, parameters);
      } catch (ClassNotFoundException error) {
        problems.add("there is no class " + className);
      } catch (NoClassDefFoundError error) {
        problems.add("the class " + className + " needs " + error.getMessage() + ", which the JAR does not hold");
      } catch (ReflectiveOperationException | LinkageError | IllegalArgumentException error) {
        problems.add(error.getMessage() == null ? error.toString() : error.getMessage());
      }
    }
    for (String problem : problems) host.addText(problem);
    host.send();
    return problems.isEmpty() ? host : null;
  }

  private static String text(ByteBuffer message, int length) {
    String text = new String(message.array(), message.position(), length, StandardCharsets.UTF_8);
    message.position(message.position() + length);
    return text;
  }

  private void bind(int at, Class<?> type, String name, int parameters) throws ReflectiveOperationException {
    Method found = null;
    List<String> others = new ArrayList<>();
    for (Method method : type.getMethods()) {
      if (!method.getName().equals(name) || method.isBridge()) continue;
      others.add(Arrays.toString(method.getParameterTypes()));
      if (method.getParameterCount() == parameters && (found == null || rank(method).compareTo(rank(found)) < 0)) found = method;
    }
    if (found == null) {
      throw new IllegalArgumentException(
          "the class " + type.getName() + " has no public method " + name + " with " + parameters + " parameters"
              + (others.isEmpty() ? "" : "; it has " + String.join(", ", others)));
    }
    if (!Modifier.isStatic(found.getModifiers())) {
      Constructor<?> constructor = type.getDeclaredConstructor();
      constructor.setAccessible(true);
      instances[at] = constructor.newInstance();
    }
    found.setAccessible(true);
    methods[at] = found;
    types[at] = found.getParameterTypes();
  }

  /** Of methods with one name, that which takes texts as they are comes first; the order does not depend on that of the class file. */
  private static String rank(Executable method) {
    StringBuilder rank = new StringBuilder();
    for (Class<?> type : method.getParameterTypes()) rank.append(type == String.class ? 0 : type == Object.class ? 1 : 2).append(type.getName());
    return rank.toString();
  }

  // ---------------------------------------------------------------- calls

  /** A message: function, number of calls, then the arguments of each. */
  private void answer(ByteBuffer message) throws IOException {
    byte[] bytes = message.array();
    int place = 4;
    int offset = 4 + 4 * message.getInt(0);
    int function = message.getInt(place);
    int calls = message.getInt(place + 4);
    place += 8;
    Method method = methods[function];
    Object instance = instances[function];
    Class<?>[] wanted = types[function];
    for (int call = 0; call < calls; call++) {
      Object[] arguments = new Object[wanted.length];
      Throwable problem = null;
      for (int i = 0; i < wanted.length; i++) {
        int length = message.getInt(place);
        place += 4;
        try {
          if (length >= 0) {
            arguments[i] = converted(new String(bytes, offset, length, StandardCharsets.UTF_8), wanted[i]);
          } else if (length == NOTHING) {
            arguments[i] = nothing(wanted[i]);
          } else {
            int items = LIST - length;
            List<String> list = new ArrayList<>(items);
            int from = offset;
            for (int item = 0; item < items; item++) {
              int itemLength = message.getInt(place + 4 * item);
              list.add(new String(bytes, from, itemLength, StandardCharsets.UTF_8));
              from += itemLength;
            }
            arguments[i] = collected(list, wanted[i]);
          }
        } catch (RuntimeException error) {
          problem = error;
        }
        if (length >= 0) {
          offset += length;
        } else if (length <= LIST) {
          for (int items = LIST - length; items > 0; items--, place += 4) offset += message.getInt(place);
        }
      }
      try {
        if (problem != null) throw problem;
        add(method.invoke(instance, arguments));
      } catch (OutOfMemoryError error) {
        throw error;
      } catch (InvocationTargetException error) {
        if (error.getCause() instanceof OutOfMemoryError) throw (OutOfMemoryError) error.getCause();
        addError(error.getCause(), method);
      } catch (Throwable error) {
        addError(error, method);
      }
    }
    send();
  }

  private static Object nothing(Class<?> type) {
    if (!type.isPrimitive()) return null;
    throw new IllegalArgumentException("an argument without a value is of the type " + type.getName() + ", which must have one");
  }

  private static Object collected(List<String> list, Class<?> type) {
    if (type.isArray()) {
      Object array = Array.newInstance(type.getComponentType(), list.size());
      for (int i = 0; i < list.size(); i++) Array.set(array, i, converted(list.get(i), type.getComponentType()));
      return array;
    }
    if (type.isAssignableFrom(ArrayList.class)) return list;
    if (type.isAssignableFrom(LinkedHashSet.class)) return new LinkedHashSet<>(list);
    if (list.size() == 1) return converted(list.get(0), type);
    throw new IllegalArgumentException("a list was given for the type " + type.getName());
  }

  private static Object converted(String text, Class<?> type) {
    if (type == String.class || type == Object.class || type == CharSequence.class) return text;
    if (type == int.class || type == Integer.class) return Integer.valueOf(text.trim());
    if (type == long.class || type == Long.class) return Long.valueOf(text.trim());
    if (type == double.class || type == Double.class) return Double.valueOf(text);
    if (type == boolean.class || type == Boolean.class) return text.equals("1") || Boolean.parseBoolean(text);
    if (type == float.class || type == Float.class) return Float.valueOf(text);
    if (type == short.class || type == Short.class) return Short.valueOf(text.trim());
    if (type == byte.class || type == Byte.class) return Byte.valueOf(text.trim());
    if (type == BigDecimal.class || type == Number.class) return new BigDecimal(text.trim());
    if (type == BigInteger.class) return new BigInteger(text.trim());
    if ((type == char.class || type == Character.class) && text.length() == 1) return text.charAt(0);
    if (type.isArray() || Iterable.class.isAssignableFrom(type)) return collected(new ArrayList<>(List.of(text)), type);
    return made(text, type);
  }

  /** Types that are made of a text: by `parse` or `valueOf`, as those of java.time and enumerations, or by their constructor. */
  private static Object made(String text, Class<?> type) {
    try {
      for (String name : new String[] {"parse", "valueOf", "fromString", "create"}) {
        for (Class<?> parameter : new Class<?>[] {CharSequence.class, String.class}) {
          try {
            Method method = type.getMethod(name, parameter);
            if (Modifier.isStatic(method.getModifiers()) && type.isAssignableFrom(method.getReturnType())) return method.invoke(null, text);
          } catch (NoSuchMethodException other) {
            // The next one.
          }
        }
      }
      return type.getConstructor(String.class).newInstance(text);
    } catch (InvocationTargetException error) {
      throw new IllegalArgumentException("\"" + text + "\" is no " + type.getName() + ": " + error.getCause().getMessage());
    } catch (ReflectiveOperationException error) {
      throw new IllegalArgumentException("a text cannot become a " + type.getName());
    }
  }

  // ---------------------------------------------------------------- answers

  private void add(Object value) {
    if (value instanceof Optional) value = ((Optional<?>) value).orElse(null);
    if (value == null) {
      addNumber(NOTHING);
    } else if (value instanceof Iterable) {
      Collection<Object> items = new ArrayList<>();
      for (Object item : (Iterable<?>) value) if (item != null) items.add(item);
      addItems(items);
    } else if (value.getClass().isArray()) {
      Collection<Object> items = new ArrayList<>();
      for (int i = 0; i < Array.getLength(value); i++) if (Array.get(value, i) != null) items.add(Array.get(value, i));
      addItems(items);
    } else {
      addText(value.toString());
    }
  }

  private void addItems(Collection<Object> items) {
    // Made first: an item whose text cannot be made must leave nothing behind.
    List<String> made = new ArrayList<>(items.size());
    for (Object item : items) made.add(String.valueOf(item));
    addNumber(LIST - made.size());
    for (String item : made) addText(item);
  }

  private void addError(Throwable error, Method method) {
    StringBuilder message = new StringBuilder(error.toString());
    for (StackTraceElement element : error.getStackTrace()) {
      if (!element.getClassName().equals(method.getDeclaringClass().getName()) || element.getFileName() == null) continue;
      message.append(" (").append(element.getFileName()).append(':').append(element.getLineNumber()).append(')');
      break;
    }
    addNumber(ERROR);
    addText(message.toString());
  }

  private void addNumber(int number) {
    if (count == numbers.length) numbers = Arrays.copyOf(numbers, 2 * count);
    numbers[count++] = number;
  }

  private void addText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    addNumber(bytes.length);
    if (size + bytes.length > texts.length) texts = Arrays.copyOf(texts, Math.max(2 * texts.length, size + bytes.length));
    System.arraycopy(bytes, 0, texts, size, bytes.length);
    size += bytes.length;
  }

  private void send() throws IOException {
    ByteBuffer head = ByteBuffer.allocate(8 + 4 * count).order(ByteOrder.LITTLE_ENDIAN);
    head.putInt(4 + 4 * count + size).putInt(count);
    for (int i = 0; i < count; i++) head.putInt(numbers[i]);
    output.write(head.array());
    output.write(texts, 0, size);
    output.flush();
    count = 0;
    size = 0;
  }
}
