import java.io.FileInputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

/** Validates PDF files by veraPDF's library: profiles by their ids (3a,ua1), then files. Exits with 1 if one fails. */
public class Validate {
  public static void main(String[] arguments) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    boolean failed = false;
    for (int i = 1; i < arguments.length; i++)
      for (String id : arguments[0].split(",")) failed |= !isValid(arguments[i], PDFAFlavour.byFlavourId(id));
    System.exit(failed ? 1 : 0);
  }

  private static boolean isValid(String file, PDFAFlavour profile) throws Exception {
    try (FileInputStream bytes = new FileInputStream(file);
        PDFAParser parser = Foundries.defaultInstance().createParser(bytes, profile)) {
      ValidationResult result = Foundries.defaultInstance().createValidator(profile, false).validate(parser);
      String verdict = result.isCompliant() ? "PASS" : "FAIL";
      System.out.println(verdict + " " + profile + ", " + result.getTotalAssertions() + " assertions, " + file);
      for (TestAssertion fault : result.getTestAssertions())
        System.out.println("  " + fault.getRuleId() + " " + fault.getMessage() + " " + fault.getLocation().getContext());
      return result.isCompliant();
    }
  }
}
